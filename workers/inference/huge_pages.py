"""Weights and cache in huge pages of memory: one entry of the processor's address cache for 2 MB instead of 4 kB.

A decoding step reads every weight once, so small pages cost it several per cent (docs/inference.md). What requests need
for a moment comes in small pages: in huge ones the gaps between it stay resident, and a worker grew by 6 % in 10,000
requests.
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from collections.abc import Mapping
from pathlib import Path

TUNABLE = "glibc.malloc.hugetlb"
PR_SET_THP_DISABLE = 41  # <linux/prctl.h>
SETTING = Path("/sys/kernel/mm/transparent_hugepage/enabled")


def environment_with_huge_pages(
    environment: Mapping[str, str], libc: tuple[str, str], setting: str
) -> dict[str, str] | None:
    """The environment in which glibc asks for huge pages, or None where that is settled or would change nothing.

    Args:
        libc: name and version, as ``platform.libc_ver()`` gives them.
        setting: what the kernel says of huge pages, for example ``always [madvise] never``.
    """
    name, version = libc
    known = name == "glibc" and tuple(int(part) for part in version.split(".")[:2] if part.isdigit()) >= (2, 35)
    tunables = environment.get("GLIBC_TUNABLES", "")
    if not known or "[madvise]" not in setting or TUNABLE in tunables:
        return None
    return {**environment, "GLIBC_TUNABLES": ":".join(filter(None, (tunables, f"{TUNABLE}=1")))}


def restart_with_huge_pages() -> None:
    """Begin this process anew, under the same number, if its memory can be had in huge pages and is not.

    glibc reads the wish before Python runs, so it cannot be made later. ``GLIBC_TUNABLES=glibc.malloc.hugetlb=0`` in
    the environment declines.
    """
    if sys.platform != "linux" or not SETTING.is_file():
        return
    environment = environment_with_huge_pages(os.environ, platform.libc_ver(), SETTING.read_text())
    if environment is not None:
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)  # noqa: S606 - itself


def small_pages_from_now_on() -> None:
    """What is in huge pages stays there; memory that is asked for later comes in small ones."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)
