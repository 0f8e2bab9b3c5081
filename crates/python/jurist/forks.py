"""What a forked process renews: its threads are gone, and a thread of the parent may have held a lock."""

from __future__ import annotations

import os
import weakref
from typing import Protocol


class Renewable(Protocol):
    def renew_after_fork(self) -> None:
        """Replace locks, threads and connections of the parent process."""


_RENEWED: weakref.WeakSet[Renewable] = weakref.WeakSet()


def renew_in_forks(renewable: Renewable) -> None:
    """Let `renew_after_fork` be called in every process that is forked from this one."""
    _RENEWED.add(renewable)


def _renew_all() -> None:
    for renewable in list(_RENEWED):
        renewable.renew_after_fork()


# Windows has no fork.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
