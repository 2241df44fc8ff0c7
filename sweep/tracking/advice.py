"""What is wrong with an MLflow, from the errors of its client, its database or its network, in words that help."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from sweep.errors import TrackingError
from sweep.tracking.destination import without_password
from sweep.tracking.environment import SWITCHES, quiet

_TIMEOUT = "MLFLOW_HTTP_REQUEST_TIMEOUT"

_KNOWN = (
    (
        r"NameResolution|Failed to resolve|getaddrinfo|Name or service not known",
        "no machine of that name is known here",
    ),
    (r"Connection refused", "nothing listens there; the server is not running, or it is another address"),
    (r"No route to host|Network is unreachable", "there is no way to that machine from here"),
    (r"timed out|timeout exception|Timeout", f"it did not answer within {{timeout}} s ({_TIMEOUT})"),
    (
        r"Connection aborted|Connection reset|RemoteDisconnected|IncompleteRead|Broken pipe",
        "it went away in the middle",
    ),
    (r"Invalid Host header", "it turns this host's name away; start it with --allowed-hosts"),
    (
        r"\b401\b|UNAUTHENTICATED|Unauthorized|not authenticated",
        "it wants MLFLOW_TRACKING_USERNAME and _PASSWORD, or MLFLOW_TRACKING_TOKEN",
    ),
    (r"\b403\b|PERMISSION_DENIED|Permission denied", "writing there is not allowed"),
    (r"WRONG_VERSION_NUMBER|record layer failure", "it does not speak https; write http://"),
    (
        r"CERTIFICATE_VERIFY_FAILED",
        "its certificate is not trusted; MLFLOW_TRACKING_SERVER_CERT_PATH names one that is",
    ),
    (
        r"\b404\b|not in a valid JSON format|Expecting value",
        "what answers there is not MLflow's server, or not under this path",
    ),
    (r"too many 5\d\d error responses|\b50\d\b|INTERNAL_ERROR", "it answers with errors of its own; its log says more"),
    (
        r"out-of-date database schema|Can't locate revision",
        "the database is another MLflow version's; that one can write it, or `mlflow db upgrade` brings it up to date",
    ),
    (
        r"unable to open database file|No such file or directory",
        "the database cannot be opened: its folder does not exist, or may not be written",
    ),
    (r"readonly database", "the database may not be written"),
    (r"disk is full|No space left", "the disk is full"),
    (r"database is locked", "another process keeps the database locked"),
    (r"file is not a database|disk image is malformed", "the file is no database, or a damaged one"),
    (r"No module named '?(\w+)", "a package is missing: pip install {found}"),
    (r"Can't load plugin: sqlalchemy\.dialects:(\S+)", "nobody here knows a database of the kind {found}"),
)
"""Patterns of what errors say, the more telling first, and what it means."""


class MidwayError(TrackingError):
    """MLflow answered, and then did not."""


@contextmanager
def reachable(uri: str, kind: type[TrackingError] = TrackingError) -> Iterator[None]:
    """Every failure of MLflow, its database or its network as one error of a kind, in a sentence."""
    quiet()
    from mlflow.exceptions import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (MlflowException, SQLAlchemyError, OSError, ImportError) as error:
        raise kind(advice(uri, error)) from error


def advice(uri: str, error: BaseException) -> str:
    """One sentence on what is wrong with the MLflow at a URI, and what to do about it."""
    return f"MLflow at {without_password(uri)} could not be used: {reason(error)}."


def reason(error: BaseException) -> str:
    """What an error means; what it says itself, shortened, where that is not known."""
    said = in_a_line(error)
    for pattern, words in _KNOWN:
        if found := re.search(pattern, said):
            timeout = os.environ.get(_TIMEOUT, SWITCHES[_TIMEOUT])
            return words.format(timeout=timeout, found=found[1] if found.lastindex else "")
    return said[:300].rstrip(".")


def in_a_line(error: BaseException) -> str:
    """What an error says, whatever its lines and passwords."""
    return without_password(" ".join(f"{type(error).__name__}: {error}".split()))
