"""chromium.py - a headless Chromium on a pipe: pages, real input events, pictures.

Speaks the DevTools protocol over file descriptors 3 and 4 (--remote-debugging-pipe), so
that nothing but Python's library is needed. Use `with Chromium(program) as browser`; the
profile is a temporary folder that goes with it. A page that does not answer within
TIMEOUT seconds raises.
"""
import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile

TIMEOUT = 60


class Chromium:
    def __init__(self, program):
        self.profile = tempfile.mkdtemp(prefix='slimpack-chromium.')
        to_child, self.sink = os.pipe()
        self.source, from_child = os.pipe()

        def move():
            # By way of numbers above both, so that neither is lost where they overlap.
            ends = fcntl.fcntl(to_child, fcntl.F_DUPFD, 10), fcntl.fcntl(from_child, fcntl.F_DUPFD, 10)
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        self.process = subprocess.Popen(
            [program, '--headless', '--no-sandbox', '--disable-gpu', '--no-first-run',
             '--force-device-scale-factor=1', '--remote-debugging-pipe',
             '--user-data-dir=' + self.profile, 'about:blank'],
            preexec_fn=move, pass_fds=(3, 4), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_child)
        os.close(from_child)
        self.text = b''
        self.number = 0
        self.session = None
        self.events = []

    def __enter__(self):
        targets = self.call('Target.getTargets')['targetInfos']
        target = [t for t in targets if t['type'] == 'page'][0]['targetId']
        attached = self.call('Target.attachToTarget', targetId=target, flatten=True)
        self.session = attached['sessionId']
        for domain in ('Page', 'Runtime', 'Network', 'Log'):
            self.call(domain + '.enable')
        return self

    def __exit__(self, *_):
        try:
            self.session = None
            self.call('Browser.close')
            self.process.wait(10)
        except Exception:
            self.process.kill()
        self.process.wait()
        os.close(self.sink)
        os.close(self.source)
        shutil.rmtree(self.profile, ignore_errors=True)

    def read_message(self):
        while b'\0' not in self.text:
            if not select.select([self.source], [], [], TIMEOUT)[0]:
                raise TimeoutError('the browser does not answer')
            part = os.read(self.source, 1 << 20)
            if not part:
                raise EOFError('the browser is gone')
            self.text += part
        message, self.text = self.text.split(b'\0', 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {'id': self.number, 'method': method, 'params': parameters}
        if self.session:
            message['sessionId'] = self.session
        os.write(self.sink, json.dumps(message).encode() + b'\0')
        while True:
            answer = self.read_message()
            if answer.get('id') == self.number:
                if 'error' in answer:
                    raise RuntimeError(method + ': ' + answer['error']['message'])
                return answer['result']
            self.events.append(answer)

    def wait_for(self, method):
        for event in self.events:
            if event.get('method') == method:
                return
        while True:
            event = self.read_message()
            self.events.append(event)
            if event.get('method') == method:
                return

    def open(self, path, width=1400, height=1000, dark=False):
        self.size(width, height)
        self.call('Emulation.setEmulatedMedia', features=[
            {'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}])
        self.events = []
        self.call('Page.navigate', url='file://' + os.path.abspath(path))
        self.wait_for('Page.loadEventFired')
        self.settle()

    def size(self, width, height):
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height,
                  deviceScaleFactor=1, mobile=False)

    def run(self, expression):
        answer = self.call('Runtime.evaluate', expression=expression, returnByValue=True,
                           awaitPromise=True)
        if 'exceptionDetails' in answer:
            raise RuntimeError(expression + ': ' + json.dumps(answer['exceptionDetails'])[:300])
        return answer['result'].get('value')

    def settle(self):
        """Two frames: what was asked to be drawn is drawn."""
        self.run('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')

    def problems(self):
        """Exceptions, errors of the console, and requests beyond the page itself."""
        found = []
        for event in self.events:
            method, p = event.get('method'), event.get('params', {})
            if method == 'Runtime.exceptionThrown':
                found.append(json.dumps(p['exceptionDetails'])[:300])
            elif method == 'Log.entryAdded' and p['entry']['level'] == 'error':
                found.append(p['entry']['text'])
            elif method == 'Network.requestWillBeSent' and p.get('type') != 'Document':
                found.append('requests ' + p['request']['url'][:200])
        return found

    def mouse(self, kind, x, y, **more):
        self.call('Input.dispatchMouseEvent', type=kind, x=x, y=y, **more)

    def wheel(self, x, y, by, modifiers=0):
        self.mouse('mouseWheel', x, y, deltaX=0, deltaY=by, modifiers=modifiers)
        self.settle()

    def drag(self, x0, y0, x1, y1):
        self.mouse('mousePressed', x0, y0, button='left', buttons=1, clickCount=1)
        for step in range(1, 6):
            self.mouse('mouseMoved', x0 + (x1 - x0) * step / 5, y0 + (y1 - y0) * step / 5,
                       button='left', buttons=1)
        self.mouse('mouseReleased', x1, y1, button='left', clickCount=1)
        self.settle()

    def click(self, x, y):
        self.mouse('mousePressed', x, y, button='left', buttons=1, clickCount=1)
        self.mouse('mouseReleased', x, y, button='left', clickCount=1)
        self.settle()

    def key(self, key, modifiers=0):
        text = {'text': key} if len(key) == 1 else {'text': '\r'} if key == 'Enter' else {}
        self.call('Input.dispatchKeyEvent', type='keyDown', key=key, code=key,
                  windowsVirtualKeyCode={'Tab': 9, 'Enter': 13}.get(key, 0),
                  modifiers=modifiers, **text)
        self.call('Input.dispatchKeyEvent', type='keyUp', key=key, code=key, modifiers=modifiers)
        self.settle()

    def picture(self, path, whole=True):
        data = self.call('Page.captureScreenshot', captureBeyondViewport=whole)['data']
        with open(path, 'wb') as file:
            file.write(base64.b64decode(data))
