"""Serves moto on a free port of loopback, says where, and ends with its standard input: it cannot outlive its starter."""

import sys
import threading

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import make_server


class OneAtATime:
    """AWS checks a condition and writes in one step. moto does so in two, which must not interleave with another request."""

    def __init__(self, app):
        self.app = app
        self.lock = threading.Lock()

    def __call__(self, environ, start_response):
        # A queue waits for messages inside its request, and has no conditions.
        if environ.get("HTTP_X_AMZ_TARGET", "").startswith("AmazonSQS."):
            return self.app(environ, start_response)
        with self.lock:
            return self.app(environ, start_response)


class Silent(MotoRequestHandler):
    def log_request(self, *args):
        pass


app = OneAtATime(DomainDispatcherApplication(create_backend_app))
server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=Silent)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
sys.stdin.read()
server.shutdown()
