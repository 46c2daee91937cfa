"""When a worker starts anew to have its weights in huge pages."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

from workers.inference.huge_pages import SETTING, environment_with_huge_pages

MADVISE = "always [madvise] never"


def test_glibc_is_asked_for_huge_pages_beside_what_it_is_asked_already() -> None:
    plain = environment_with_huge_pages({"HOME": "/"}, ("glibc", "2.36"), MADVISE)
    tuned = environment_with_huge_pages({"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}, ("glibc", "2.36"), MADVISE)

    assert plain == {"HOME": "/", "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
    assert tuned == {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0:glibc.malloc.hugetlb=1"}


@pytest.mark.parametrize(
    ("environment", "libc", "setting"),
    [
        ({"GLIBC_TUNABLES": "glibc.malloc.hugetlb=0"}, ("glibc", "2.36"), MADVISE),
        ({"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}, ("glibc", "2.36"), MADVISE),
        ({}, ("glibc", "2.31"), MADVISE),
        ({}, ("", ""), MADVISE),
        ({}, ("glibc", "2.36"), "[always] madvise never"),
        ({}, ("glibc", "2.36"), "always madvise [never]"),
    ],
    ids=["declined", "done", "too old", "another library", "given to all", "given to none"],
)
def test_nothing_starts_anew_where_nothing_would_change(environment, libc, setting) -> None:
    assert environment_with_huge_pages(environment, libc, setting) is None


@pytest.mark.skipif(sys.platform != "linux", reason="huge pages are Linux's")
def test_what_comes_after_the_model_comes_in_small_pages() -> None:
    code = "from workers.inference.huge_pages import small_pages_from_now_on as small; small()\n"
    code += "print([line for line in open('/proc/self/status') if line.startswith('THP_enabled')])"

    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert said == "['THP_enabled:\\t0\\n']\n"


def test_the_command_line_survives_the_new_start() -> None:
    code = "import sys; from workers.inference.huge_pages import restart_with_huge_pages as again; again()\n"
    code += "import os; print(os.getpid(), os.environ.get('GLIBC_TUNABLES', ''), sys.argv[1:])"
    plain = {name: value for name, value in os.environ.items() if name != "GLIBC_TUNABLES"}
    setting = SETTING.read_text() if SETTING.is_file() else ""
    wanted = environment_with_huge_pages(plain, platform.libc_ver(), setting) or {}

    with subprocess.Popen(
        [sys.executable, "-c", code, "--port", "a b"], env=plain, stdout=subprocess.PIPE, text=True
    ) as process:
        said = process.communicate(timeout=60)[0]

    assert said == f"{process.pid} {wanted.get('GLIBC_TUNABLES', '')} ['--port', 'a b']\n"
