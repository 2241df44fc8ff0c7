"""Hydra's --multirun with any of its launchers, a job a run: ``+folder=... +latency=... +seed=...``."""

import hydra
from arm import episode


@hydra.main(config_path=None, config_name=None, version_base="1.3")
def main(config):
    error = episode(config.folder, config.latency, config.seed)
    print("error", error, flush=True)
    return error


if __name__ == "__main__":
    main()
