"""MLflow's switches, set before it is imported: no telemetry, no chatter, and an absent server known in seconds."""

from __future__ import annotations

import logging
import os
import warnings

SWITCHES = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    # With the default of 7 retries one call to an absent server takes four minutes.
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
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
