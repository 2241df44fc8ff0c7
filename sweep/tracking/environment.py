"""MLflow's switches, set before it is imported: no telemetry, no chatter, and an absent server known in seconds."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Mapping
from pathlib import Path

import sweep

SWITCHES = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    # The syncer tries again by itself, a whole pass at a time.  MLflow's own retries (7, four minutes for one call to
    # an absent server) would also repeat creations that only seemed to fail, and leave runs behind twice.
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "20",
    "MLFLOW_LOGGING_LEVEL": "ERROR",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "GIT_PYTHON_REFRESH": "quiet",
}


def quiet() -> None:
    """Set the switches that the user has not set, and silence the loggers of MLflow and its libraries."""
    for name, value in SWITCHES.items():
        os.environ.setdefault(name, value)
    for name in ("mlflow", "alembic", "sqlalchemy", "git", "urllib3"):
        logging.getLogger(name).setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module=r"(mlflow|alembic|sqlalchemy|pydantic|fastapi)\b.*")


def child_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a process that imports MLflow: this package importable, bytecode cached, the switches set."""
    child = {**SWITCHES, **environment}
    child.pop("PYTHONDONTWRITEBYTECODE", None)  # without cached bytecode importing MLflow takes 10 s
    root = str(Path(sweep.__file__).parents[1])
    child["PYTHONPATH"] = os.pathsep.join(filter(None, (root, environment.get("PYTHONPATH", ""))))
    child["PYTHONWARNINGS"] = "ignore"
    return child
