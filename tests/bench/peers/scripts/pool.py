"""A multiprocessing pool.  FOLDER SEEDS WORKERS LATENCY ..."""

import multiprocessing
import sys

from arm import episode


def main():
    folder, seeds, workers, *latencies = sys.argv[1:]
    jobs = [(folder, float(latency), seed) for latency in latencies for seed in range(int(seeds))]
    with multiprocessing.get_context("spawn").Pool(int(workers)) as pool:
        for error in pool.starmap(episode, jobs):
            print("error", error)


if __name__ == "__main__":
    main()
