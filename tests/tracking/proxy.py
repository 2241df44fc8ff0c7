"""A proxy between a client and a server, with the faults that networks and servers have."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

HOP = {"connection", "transfer-encoding", "content-length", "host", "keep-alive"}


class Proxy:
    """Forwards to ``upstream``; used in ``with``.

    Attributes:
        uri: its own address.
        delay_s: how long every request waits before it is passed on [s].
        errors: how many requests are answered 500 and not passed on; -1 means all, until further notice.
        hangs: whether requests are taken and never answered.
        lose: path fragment -> how many answers to requests of it are lost on the way back.
        seen: paths, in order.
    """

    def __init__(self, upstream: str) -> None:
        self.upstream = upstream
        self.delay_s = 0.0
        self.errors = 0
        self.hangs = False
        self.lose: dict[str, int] = {}
        self.seen: list[str] = []
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.uri = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Proxy:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()

    def is_lost(self, path: str) -> bool:
        with self._lock:
            for fragment, left in self.lose.items():
                if fragment in path and left:
                    self.lose[fragment] -= 1
                    return True
        return False

    def is_error(self) -> bool:
        with self._lock:
            is_error = self.errors != 0
            self.errors -= self.errors > 0
            return is_error

    def _handler(proxy) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                proxy.seen.append(self.path)
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if proxy.hangs:
                    proxy._over.wait()
                    return
                time.sleep(proxy.delay_s)
                if proxy.is_error():
                    self.give(500, {}, b"out of order")
                    return
                address = urlsplit(proxy.upstream)
                headers = {k: v for k, v in self.headers.items() if k.lower() not in HOP}
                try:
                    upstream = http.client.HTTPConnection(address.hostname, address.port, timeout=30)
                    upstream.request(self.command, self.path, body, headers)
                    got = upstream.getresponse()
                    content = got.read()
                except (OSError, http.client.HTTPException):
                    self.drop()  # as the server dies, its connections do
                    return
                if proxy.is_lost(self.path):
                    self.drop()
                    return
                self.give(got.status, dict(got.getheaders()), content)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

            def give(self, status: int, headers: dict[str, str], content: bytes) -> None:
                self.send_response(status)
                for name, value in headers.items():
                    if name.lower() not in HOP:
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def drop(self) -> None:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)

            def log_message(self, *_: object) -> None:
                pass

        return Handler


class Answering:
    """A server that has one answer; used in ``with``."""

    def __init__(self, status: int, kind: str, content: bytes) -> None:
        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = answer

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.uri = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Answering:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
