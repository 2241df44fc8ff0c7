"""The address of a Ray cluster: whether it is one, whether somebody listens, and what to do if Ray refuses."""

from __future__ import annotations

import re
import socket

from sweep.errors import ExecutorError

KNOCK_S = 5.0
"""How long a machine may take to accept a connection [s]."""

FORMS = (
    "Addresses are HOST:6379 from a machine of the cluster, ray://HOST:10001 from outside, and auto for the Ray that "
    "runs on this machine; without one a local Ray is started."
)

TOKEN = (
    "Its token is given by RAY_AUTH_MODE=token with RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH; `ray get-auth-token` on the "
    "cluster's head prints it."
)


def check_address(address: str) -> None:
    """Refuse what is no address, and fail where nobody listens: Ray itself would try for minutes.

    Raises:
        ExecutorError: what is wrong, and what to type.
    """
    if address in ("auto", "local"):
        return
    if address.startswith(("http://", "https://")):
        raise ExecutorError(
            f"{address} is the address of Ray's dashboard, which takes jobs: `ray job submit --address {address} "
            f"--working-dir . -- python -m sweep ...` runs the sweep there. {FORMS}"
        )
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 65536 or "/" in host:
        raise ExecutorError(f"{address!r} is no address of a Ray cluster. {FORMS}")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=KNOCK_S).close()
    except OSError as error:
        raise ExecutorError(f"Ray cannot be reached at {address}: {_why(error, host, int(port))}. {FORMS}") from error


def _why(error: OSError, host: str, port: int) -> str:
    if isinstance(error, socket.gaierror):
        return f"no machine is known as {host}"
    if isinstance(error, ConnectionRefusedError):
        return f"nothing listens on port {port} there; `ray start --head` on it starts a cluster"
    if isinstance(error, TimeoutError):
        return f"{host} does not answer on port {port} within {KNOCK_S:g} s; a firewall may stand between"
    return error.strerror or type(error).__name__


def refusal(address: str | None, error: BaseException) -> str:
    """The message for people where Ray would not start, or would not have us.

    Args:
        address: the cluster's; None where one was to be started here.
        error: what Ray raised.
    """
    text = " ".join(str(error).split())
    if address is None:
        return f"Ray cannot be started: {text} See executor=inline, which needs none."
    head = f"Ray cannot be reached at {address}: "
    skew = re.findall(r"Ray: (\S+) Python: (\S+)", text)
    if "ismatch" in text and len(skew) == 2:
        (ray, python), (our_ray, our_python) = skew
        return (
            f"{head}the cluster runs Ray {ray} on Python {python}, here are Ray {our_ray} and Python {our_python}. "
            "They have to be the same: install those here, or run inside the cluster with `ray job submit`."
        )
    if type(error).__name__ == "AuthenticationError":
        return f"{head}the cluster wants its token. {TOKEN}"
    if "Failed to connect to Ray cluster" in text:
        return f"{head}what listens there is another service, or does not let us in without its token. {TOKEN} {FORMS}"
    if "any running Ray instance" in text:
        return f"{head}no Ray runs on this machine; `ray start --head` starts one. {FORMS}"
    return f"{head}{text} {FORMS}"


def no_answer(address: str | None, waited_s: float) -> str:
    """The message where Ray says nothing at all."""
    if address is None:
        return f"Ray did not start within {waited_s:g} s. See executor=inline, which needs none."
    return f"What listens at {address} does not answer as a Ray cluster within {waited_s:g} s: another port? {FORMS}"
