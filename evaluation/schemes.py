"""The schemes that can be evaluated: their names, and what runs for each."""

import hashlib
import platform
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path

import ccgym.deploy
from ccgym.agents.seen_links import read_seen_links
from ccgym.agents.shipped import policy_path
from ccgym.deploy import quic
from ccgym.deploy.pantheon import PantheonCheckout
from ccgym.envs import _core
from ccgym.envs.errors import MOST_LISTED, InputError, did_you_mean, excerpt, is_text
from ccgym.envs.outside_files import absolute, sha256_of

from .outside_schemes import library_file, look_at
from .run_files import LINK_LOG_ENDING

_UNSAFE = re.compile(r"[^\w.+-]+")
_SHIPPED = {
    "aurora": "trained by PPO on Aurora's own features, actions and reward (ICML 2019)",
    "indigo": "LSTM trained by DAgger on Indigo's own features (ATC 2018)",
    "indigo2": "trained by DAgger on scale-free features, with a preference between delay and throughput",
}
_KERNEL_CONTROLS = {
    "bbr": "TCP BBR of this kernel",
    "cubic": "TCP Cubic of this kernel",
    "reno": "TCP Reno of this kernel",
}
_KERNEL_PREFIX = "kernel-"


class Kind(Enum):
    """What runs a scheme's sender."""

    NATIVE = "native"
    POLICY = "policy"
    PYTHON = "python"
    """A controller from outside, in the twin only."""
    LIBRARY = "library"
    """A controller from outside in a shared library, in the twin and in our endpoint."""
    KERNEL = "kernel"
    QUIC = "quic"
    PANTHEON = "pantheon"
    MIX = "mix"
    """Several schemes that share the link, each with flows of its own."""


IN_TWIN = frozenset({Kind.NATIVE, Kind.POLICY, Kind.PYTHON, Kind.LIBRARY})
"""The kinds that run in virtual time."""


@dataclass(frozen=True)
class Scheme:
    """One competitor of an evaluation."""

    name: str
    """The name as given; for a file, the name of the file."""
    kind: Kind
    controller: str
    """NATIVE, POLICY, PYTHON, LIBRARY: the name for `make_controller`; KERNEL: the kernel's name; QUIC: the
    scheme's name; PANTHEON: the path of the wrapper; MIX: empty."""
    members: "tuple[Scheme, ...]" = ()
    """The schemes of a MIX."""
    preference: str = ""
    """POLICY: from low delay (0) to full throughput (1); empty: the file's own."""
    outside_file: Path | None = None
    """PYTHON and LIBRARY: the file of the controller."""

    @property
    def label(self) -> str:
        """The name in reports and of files."""
        return _UNSAFE.sub("-", self.name)

    def line_up(self, flows: int) -> "list[Scheme]":
        """The scheme of each flow of a run; the members of a mix take turns, each with at least one flow."""
        members = self.members or (self,)
        return [members[index % len(members)] for index in range(max(flows, len(members)))]

    @property
    def policy_file(self) -> Path | None:
        """The file of a POLICY; None for other kinds."""
        if self.kind is not Kind.POLICY:
            return None
        return Path(self.controller.removeprefix("policy:").removesuffix(f":{self.preference}"))

    @property
    def is_learned(self) -> bool:
        """Whether it is a policy or a mix with one."""
        return any(scheme.kind is Kind.POLICY for scheme in self.members or (self,))

    def seen(self, digests: Mapping[str, str]) -> dict[str, str]:
        """For each link, whether its policies saw it in training: `train`, `validation`, `no`, `unknown`."""
        files = [scheme.policy_file for scheme in self.members or (self,)]
        policies = [read_seen_links(file) for file in files if file is not None]

        def answer(digest: str) -> str:
            answers = {"unknown" if seen is None else seen.how(digest) for seen in policies}
            return next(each for each in ("train", "validation", "unknown", "no") if each in answers)

        return {label: answer(digest) for label, digest in digests.items()}

    @property
    def file(self) -> Path | None:
        """The file from which its controller is read; None if there is none."""
        return self.policy_file or self.outside_file

    @property
    def has_outside_code(self) -> bool:
        """Whether it, or a member of a mix, is a controller from outside."""
        return any(scheme.outside_file is not None for scheme in self.members or (self,))

    def controller_with(self, copy: str | Path) -> str:
        """The controller of a POLICY or LIBRARY whose file has been copied elsewhere."""
        if self.kind is Kind.LIBRARY:
            file = library_file(self.controller)
            return f"so:{copy}" + self.controller.removeprefix(file)
        return f"policy:{copy}" + (f":{self.preference}" if self.preference else "")

    @property
    def _within_file(self) -> str:
        """The class of a PYTHON controller or the arguments of a LIBRARY: what stays if the file moves."""
        argument = self.controller.partition(":")[2]
        if self.kind is Kind.LIBRARY:
            return argument.removeprefix(library_file(argument))
        return argument.rpartition(":")[2]

    def fingerprint(self) -> str:
        """A text that changes whenever the program, policy or kernel behind the scheme changes."""
        if self.members:
            return " + ".join(member.fingerprint() for member in self.members)
        if self.kind is Kind.QUIC:
            return f"{self.controller} of {quic.CRATE} {quic.VERSION}"
        if self.kind is Kind.KERNEL:
            return f"{self.controller} of {platform.system()} {platform.release()}"
        if self.kind is Kind.PANTHEON:
            return f"{self.kind.value} sha256:{sha256_of(Path(self.controller), 'the wrapper')}"
        if self.outside_file is not None:
            outside = sha256_of(self.outside_file, "the controller")
            return f"{self.kind.value} {self._within_file} sha256:{outside} of {_native_code()}"
        if self.policy_file is None:
            return f"{self.controller} of {_native_code()}"
        preference = f" at {self.preference}" if self.preference else ""
        policy = sha256_of(self.policy_file, "the policy")
        return f"{self.kind.value} sha256:{policy}{preference} of {_native_code()}"


@cache
def _native_code() -> str:
    """A digest of the C++ core, which runs in the twin, and of the endpoint programs."""
    programs = sorted((Path(ccgym.deploy.__file__ or "").parent / "bin").glob("ccgym-*"))
    digests = "".join(sha256_of(file, "the program") for file in [Path(_core.__file__ or ""), *programs])
    return f"ccgym sha256:{hashlib.sha256(digests.encode()).hexdigest()}"


@dataclass(frozen=True)
class KnownScheme:
    """A row of `ccgym schemes`."""

    name: str
    kind: Kind
    source: str
    argument: str
    """What may or must follow `NAME:`; empty: nothing may."""


def known_schemes() -> list[KnownScheme]:
    """Every name that `select_schemes` takes."""
    native = [
        KnownScheme(*row[:1], Kind.NATIVE, *row[1:]) for row in _core.known_schemes() if row[0] != "policy"
    ]
    policies = [KnownScheme(name, Kind.POLICY, source, "") for name, source in _SHIPPED.items()]
    policies.append(KnownScheme("policy", Kind.POLICY, "an exported or trained policy file", "FILE"))
    policies.append(KnownScheme("run", Kind.POLICY, "the best policy of a training run", "DIR"))
    own = [
        KnownScheme("python", Kind.PYTHON, "a class of your own, in the twin", "FILE.py:CLASS"),
        KnownScheme("so", Kind.LIBRARY, "a library of your own (`ccgym new controller`)", "FILE.so[:ARGS]"),
    ]
    foreign = [KnownScheme("pantheon", Kind.PANTHEON, "a scheme of the checkout --pantheon DIR", "NAME")]
    kernel = [
        KnownScheme(f"{_KERNEL_PREFIX}{name}", Kind.KERNEL, source, "")
        for name, source in _KERNEL_CONTROLS.items()
    ]
    real_quic = [
        KnownScheme(name, Kind.QUIC, f"{algorithm} of {quic.CRATE} {quic.VERSION}, crates.io", "")
        for name, algorithm in quic.ALGORITHMS.items()
    ]
    return native + policies + kernel + real_quic + own + foreign


ALL = "all"
MOST_LABEL_BYTES = 200
"""File systems allow names of 255 bytes, and log names are longer than scheme names."""


def all_schemes() -> list[Scheme]:
    """Every known scheme that needs no argument and is installed.

    Raises:
        InputError: a shipped policy is broken.
    """
    schemes = []
    for known in known_schemes():
        try:
            schemes.append(_find(known.name))
        except InputError:
            if known.name in _SHIPPED:
                raise
    return schemes


def twin_schemes() -> list[Scheme]:
    """Every known scheme that needs no argument and runs in the twin, except Aurora.

    Aurora fills an unlimited queue as long as it runs, and takes three times as long as all the others.
    """
    return [scheme for scheme in all_schemes() if scheme.kind in IN_TWIN and scheme.label != "aurora"]


def select_schemes(selection: str, pantheon: Path | None = None) -> list[Scheme]:
    """The schemes of a comma-separated list, in its order; `A+B` is a mix, `all` every known scheme.

    `pantheon` is the checkout that holds `pantheon:NAME`.

    Raises:
        InputError: a name is unknown (the known ones are listed) or stands twice, a policy file is missing
            or broken, or none is of the checkout.
    """
    schemes: dict[str, Scheme] = {}
    for item in map(str.strip, selection.split(",")):
        for scheme in all_schemes() if item == ALL else [_select(item, pantheon)]:
            if scheme.label in schemes:
                raise InputError(f"two schemes are called {scheme.label!r}: name each once, or rename a file")
            if len(scheme.label.encode(errors="surrogateescape")) > MOST_LABEL_BYTES:
                raise InputError(
                    f"{excerpt(item)}: the label {excerpt(scheme.label)!r} has more than {MOST_LABEL_BYTES} "
                    "bytes, too long for the names of its logs: give the file or the mix a shorter one"
                )
            if scheme.label.endswith(LINK_LOG_ENDING):
                raise InputError(
                    f"{excerpt(item)}: a label that ends in {LINK_LOG_ENDING} is that of mm-link's own logs: "
                    "give the file another name"
                )
            schemes[scheme.label] = scheme
    if pantheon is not None and not any(
        each.kind is Kind.PANTHEON for scheme in schemes.values() for each in scheme.line_up(1)
    ):
        raise InputError("--pantheon: no scheme is pantheon:NAME: name one of the checkout, or leave it out")
    return list(schemes.values())


def _select(item: str, pantheon: Path | None) -> Scheme:
    """One scheme, or a mix. A plus sign separates members only before a scheme's name: files may have one."""
    if not is_text(item):
        raise InputError(f"scheme {excerpt(item)!r}: its name is not in UTF-8: rename the file")
    names = "|".join(re.escape(scheme.name) for scheme in known_schemes())
    parts = re.split(rf"\+(?=(?:{names})(?:[:+]|$))", item)
    members = tuple(_find(part, pantheon) for part in parts)
    if len(members) == 1:
        return members[0]
    return Scheme("+".join(member.name for member in members), Kind.MIX, "", members)


def _find(item: str, pantheon: Path | None = None) -> Scheme:
    name, _, argument = item.partition(":")
    known = {scheme.name: scheme for scheme in known_schemes()}
    if name not in known:
        named = {Kind.POLICY, Kind.PYTHON, Kind.LIBRARY, Kind.PANTHEON}
        rows = [(row, row.kind in named and row.argument) for row in known.values()]
        rows = rows[:MOST_LISTED]
        listed = ", ".join(f"{row.name}:{row.argument}" if needed else row.name for row, needed in rows)
        near = _as_scheme(item) or did_you_mean(name, known)
        raise InputError(f"unknown scheme {excerpt(item)!r}{near}; known: {listed}, ..., see `ccgym schemes`")
    kind = known[name].kind
    if kind is Kind.PANTHEON:
        return _of_pantheon(argument, item, pantheon)
    if kind in (Kind.PYTHON, Kind.LIBRARY):
        return _outside(kind, argument, item)
    if kind is Kind.POLICY:
        return _policy(name, argument, item)
    if kind in (Kind.KERNEL, Kind.QUIC) and argument:
        raise InputError(f"scheme {excerpt(item)!r}: {name} takes no argument")
    if kind is Kind.KERNEL:
        return Scheme(name, kind, name.removeprefix(_KERNEL_PREFIX))
    if kind is Kind.QUIC:
        if not quic.is_installed():
            raise InputError(f"scheme {name!r} is not installed: `ccgym schemes install {name}`")
        return Scheme(name, kind, name)
    return _checked(Scheme(item, kind, item))


def _as_scheme(path: str) -> str:
    """A hint how to name a file or folder as a scheme, for a bare path; empty if there is no such file."""
    ways = {
        f"policy:{path}/policy.safetensors": f"{path}/policy.safetensors",  # of `ccgym export`
        f"run:{path}": f"{path}/best/policy.safetensors",
        f"policy:{path}": path if path.endswith(".safetensors") else "",
        f"python:{path}:CLASS": path if path.endswith(".py") else "",
        f"so:{path}": path if path.endswith(".so") else "",
    }
    written = [way for way, file in ways.items() if _is_file(file)]
    return f", write {excerpt(written[0])}" if written else ""


def _is_file(path: str) -> bool:
    with suppress(OSError, ValueError):  # too long a name, or one with a NUL
        return Path(path).is_file()
    return False


def _policy(name: str, argument: str, item: str) -> Scheme:
    argument, preference = _split_preference(
        f"{name}:{argument}" if name in _SHIPPED and argument else argument
    )
    if name in _SHIPPED:
        if argument not in ("", name):
            raise InputError(
                f"scheme {excerpt(item)!r}: {name} takes a preference from 0 to 1, as in {name}:0.7"
            )
        file, label = policy_path(name), name
    elif not argument:
        raise InputError(f"scheme {excerpt(item)!r}: expected policy:FILE or run:DIR")
    elif name == "run":
        file, label = Path(argument) / "best" / "policy.safetensors", absolute(Path(argument)).name
    else:
        file, label = Path(argument), Path(argument).stem
    if not file.is_file():
        raise InputError(f"scheme {excerpt(item)!r}: {_what_is_missing(file)}")
    suffix = f":{preference}" if preference else ""
    controller = f"policy:{absolute(file)}{suffix}"
    return _checked(Scheme(label + suffix, Kind.POLICY, controller, preference=preference))


def _what_is_missing(file: Path) -> str:
    if file.with_name("network.pt").is_file():
        return "what it trained only runs in Python; `ccgym export` says which parts can be native"
    return f"no policy file {file}"


def _outside(kind: Kind, argument: str, item: str) -> Scheme:
    """A controller from outside, labelled `aimd.Aimd` (of python:DIR/aimd.py:Aimd) or `aimd.so`."""
    if kind is Kind.LIBRARY:
        file = library_file(argument)
        label = Path(file).name + argument.removeprefix(file)
    else:
        where, _, class_name = argument.rpartition(":")
        label = f"{Path(where).stem if where.endswith('.py') else where}.{class_name}"
    return Scheme(label, kind, item, outside_file=look_at(item))


def _split_preference(argument: str) -> tuple[str, str]:
    """The parts before and after the last colon, if a number follows it."""
    before, _, number = argument.rpartition(":")
    return (before, number) if before and re.fullmatch(r"[0-9]*\.?[0-9]+", number) else (argument, "")


def _of_pantheon(name: str, item: str, root: Path | None) -> Scheme:
    if not name or root is None:
        raise InputError(
            f"scheme {excerpt(item)!r}: expected pantheon:NAME and the checkout it is of, --pantheon DIR"
        )
    checkout = PantheonCheckout(absolute(root))
    wrapper = checkout.wrapper(name)
    if not wrapper.is_file():
        raise InputError(
            f"scheme {excerpt(item)!r}: {root} has no src/wrappers/{name}.py; "
            f"it has {', '.join(checkout.schemes)}"
        )
    return Scheme(item, Kind.PANTHEON, str(wrapper))


def _checked(scheme: Scheme) -> Scheme:
    """Returns `scheme` after the core has made its controller once, which checks argument and policy file."""
    if not is_text(scheme.controller):
        raise InputError(f"{excerpt(scheme.controller)}: a folder's name is not in UTF-8: rename it")
    link = _core.Link(_core.Schedule.constant(1))
    try:
        _core.simulate(_core.Path(1, link, link), scheme.controller, seconds=0.001, seed=0)
    except (ValueError, RuntimeError) as error:
        raise InputError(str(error).splitlines()[0]) from None
    return scheme


def select_native(selection: str) -> str:
    """The name, for the core's controller table, of one scheme that runs in the twin.

    Raises:
        InputError: the scheme is unknown, or is no controller or policy of ccgym.
    """
    schemes = select_schemes(selection)
    if len(schemes) != 1 or schemes[0].kind not in IN_TWIN:
        raise InputError(f"scheme {selection!r}: expected one that runs in the twin, as copa, indigo2")
    return schemes[0].controller
