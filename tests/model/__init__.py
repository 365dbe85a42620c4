"""A model on loopback that says what a test tells it to, as four providers would; standard library only.

with serving() as model:
    model.play("impl", answer(Call("Write", {...})), answer(Say("done")))
    ... start an agent whose base URL is model.url("impl") ...
    assert model.left("impl") == 0
"""

from tests.model.server import Model, serving
from tests.model.steps import Answer, Call, Hang, Refuse, Say, Think, Usage, answer

__all__ = ["Answer", "Call", "Hang", "Model", "Refuse", "Say", "Think", "Usage", "answer", "serving"]
