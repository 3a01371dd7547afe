"""Applies edits by aider's own code, in its two formats.

    python3 apply_with_aider.py FOLDER < edits.json > results.json

FOLDER has the sources of aider. Its classes that read an answer and apply it (EditBlockCoder and UnifiedDiffCoder) run as
they are; the class that they inherit, which talks with models, git and a terminal, is a stand-in with what they call.
Packages that are absent, and that nothing here calls, are stand-ins too; what compares texts must be there.
"""

import importlib.abc
import importlib.machinery
import json
import sys
import tempfile
import types
from pathlib import Path

import diff_match_patch  # noqa: F401  aider's unified diffs need it


# What the modules of these classes import, and the classes do not call.
UNCALLED = ("git", "oslex", "rich", "tqdm")


class Absent(types.ModuleType):
    """A package that is not installed: every name in it is a class that does nothing."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


class AbsentFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] not in UNCALLED:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return Absent(spec.name)

    def exec_module(self, module):
        pass


class Coder:
    """What the classes call of the one that they inherit."""

    fence = ("```", "```")

    def __init__(self, folder, path):
        self.path = str(Path(folder) / path)
        self.name = path
        self.abs_fnames = {self.path}
        self.shell_commands = []
        self.io = self

    def get_inchat_relative_files(self):
        return [self.name]

    def abs_root_path(self, path):
        return self.path if path == self.name else str(Path(self.path).parent / path)

    def get_rel_fname(self, path):
        return self.name

    def read_text(self, path):
        return Path(path).read_text(encoding="utf-8")

    def write_text(self, path, text):
        Path(path).write_text(text, encoding="utf-8", newline="")


def load(folder):
    """Imports the two classes without the rest of the package."""
    sys.meta_path.append(AbsentFinder())
    for name, place in (("aider", "aider"), ("aider.coders", "aider/coders")):
        package = types.ModuleType(name)
        package.__path__ = [str(Path(folder) / place)]
        sys.modules[name] = package
    base = types.ModuleType("aider.coders.base_coder")
    base.Coder = Coder
    sys.modules[base.__name__] = base
    from aider.coders.editblock_coder import EditBlockCoder
    from aider.coders.udiff_coder import UnifiedDiffCoder

    return {"blocks": EditBlockCoder, "diff": UnifiedDiffCoder}


def applied(coder_class, text, answer):
    """The text after an answer; None when it is refused."""
    with tempfile.TemporaryDirectory() as folder:
        coder = coder_class(folder, "module.ts")
        coder.write_text(coder.path, text)
        coder.partial_response_content = answer
        try:
            edits = coder.get_edits()
            if not edits:
                return None
            coder.apply_edits(edits)
        except ValueError:
            return None
        return coder.read_text(coder.path)


def main():
    coders = load(sys.argv[1])
    edits = json.load(sys.stdin)
    json.dump(
        [
            {name: applied(coders[name], edit["text"], edit[name]) for name in coders}
            for edit in edits
        ],
        sys.stdout,
    )


main()
