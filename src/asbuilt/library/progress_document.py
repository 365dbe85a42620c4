"""Find the progress document of a plan: the file in which it says that its progress is kept.

Rule: the name comes from an untrusted text, so the file must be in the plan's repository or folder.
"""

from __future__ import annotations

from os import path
from typing import TYPE_CHECKING

from asbuilt.library.repository_discovery import real
from asbuilt.library.search_path import Library, PlanFile, describe, is_inside

if TYPE_CHECKING:
    from asbuilt.plan.model import Plan


def find_progress_document(library: Library, at: PlanFile, plan: Plan) -> PlanFile | None:
    """Return the file that a plan names, beside the plan or in the root; None if there is none."""
    if plan.progress_document is None:
        return None
    root = library.repository.root if at.repository and library.repository is not None else at.file.parent
    # A name with spaces can be a command that ends with the document's name.
    names = dict.fromkeys((plan.progress_document, plan.progress_document.rpartition(" ")[2]))
    for file in (folder / name for name in names for folder in (at.file.parent, root)):
        is_file = path.isfile(file)  # noqa: PTH113 - Path.is_file raises for a name that is too long
        if is_inside(file, root) and is_file and real(file) != real(at.file):
            return describe(library, file)
    return None
