"""MLflow's tables and an MLflow server, made once, because both take seconds."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sweep.tracking.destination import Destination
from sweep.tracking.server import LocalServer
from tests.tracking.stores import Store, free_port


@pytest.fixture(scope="session")
def template(tmp_path_factory) -> Path:
    """A database with MLflow's tables."""
    folder = tmp_path_factory.mktemp("template")
    Store(folder).client.search_experiments()
    return folder / "mlflow.db"


@pytest.fixture
def store(template, tmp_path) -> Store:
    shutil.copy(template, tmp_path / "mlflow.db")
    return Store(tmp_path)


@pytest.fixture(scope="session")
def server(template, tmp_path_factory):
    """A real ``mlflow server`` with a database of its own."""
    folder = tmp_path_factory.mktemp("server")
    shutil.copy(template, folder / "mlflow.db")
    with LocalServer(Destination.of_sweep(folder, "", environment={}), free_port()) as running:
        running.wait_until_up()
        yield running
