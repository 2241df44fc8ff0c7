"""Ray Tune, a trial a run.  FOLDER SEEDS WORKERS LATENCY ..."""

import os
import sys
from pathlib import Path

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import ray
from ray import tune


def trial(config):
    from arm import episode

    return {"error": episode(config["folder"], config["latency"], config["seed"])}


def main():
    folder, seeds, workers, *latencies = sys.argv[1:]
    here = {"env_vars": {"PYTHONPATH": str(Path(__file__).parent)}}
    ray.init(num_cpus=int(workers), include_dashboard=False, log_to_driver=False, runtime_env=here)
    space = {
        "folder": folder,
        "latency": tune.grid_search([float(latency) for latency in latencies]),
        "seed": tune.grid_search(list(range(int(seeds)))),
    }
    run = tune.RunConfig(storage_path=str(Path("tune").resolve()), verbose=0)
    for result in tune.Tuner(tune.with_resources(trial, {"cpu": 1}), param_space=space, run_config=run).fit():
        print("error", result.metrics["error"])


if __name__ == "__main__":
    main()
