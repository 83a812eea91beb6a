"""Generated rights, and an oracle that decides minute by minute without the code under test.

The oracle lists every admitted second of every day as a set of (day, second) facts. It is built from the
specification's
sentences and shares no function with accessapi.permissions.
"""

from datetime import date, datetime, time, timedelta, timezone

from hypothesis import strategies as st

JST = timezone(timedelta(hours=9))
FIRST_DAY = date(2026, 4, 27)  # a Monday; the week after has three Japanese public holidays
DAYS = [FIRST_DAY + timedelta(days=n) for n in range(10)]
NAMES = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
AREAS = ["a1", "a2", "a3"]
BOXES = {"k1": ["01", "02"], "k2": ["01"]}

clock = st.one_of(
    st.sampled_from(["00:00:00", "23:59:59", "12:00:00", "00:00:01", "23:59:58", "23:59:00", "00:01:00"]),
    st.builds("{:02}:{:02}:{:02}".format, st.integers(0, 23), st.integers(0, 59), st.integers(0, 59)),
)
days = st.sampled_from(DAYS)


@st.composite
def weekly_items(draw):
    week = draw(st.one_of(
        st.just(["*"]), st.just("*"), st.lists(st.sampled_from([*NAMES, "Holiday"]), max_size=8)
    ))  # fmt: skip
    start, end = draw(clock), draw(clock)
    return {
        "mode": "weekly", "start": {"time": f"{start}+09:00"}, "end": {"time": f"{end}+09:00"}, "week": week,
    }  # fmt: skip


@st.composite
def range_items(draw):
    start, end = ({"date": draw(days).isoformat(), "time": f"{draw(clock)}+09:00"} for _ in range(2))
    return {"mode": "range", "start": start, "end": end}


strange_items = st.sampled_from([
    {"mode": "lunar", "start": {}, "end": {}}, "weekly", 7, {"mode": "weekly", "start": {"time": "25:00:00+09:00"}},
    {"mode": "weekly", "start": {"time": "09:00:00+09:00"}, "end": {"time": "10:00:00+09:00"}, "week": ["Payday"]},
])  # fmt: skip
items = st.one_of(weekly_items(), range_items())


def passes(item=items):
    effect = st.sampled_from(["allow_all", "deny_all"])
    return st.one_of(
        st.builds(lambda e: {"effect": e}, effect),
        st.builds(lambda s: {"effect": "allow", "schedule": s}, st.lists(item, max_size=4)),
    )


strange_passes = st.sampled_from([
    {"effect": "allow_once"}, {"effect": "allow"}, None, "x", {"effect": "allow_all", "note": "kept"},
    {"effect": "allow", "schedule": "often"},
])  # fmt: skip


def modes(option):
    return st.one_of(st.none(), st.just({"default_mode": "allow_all"}), st.just({"default_mode": "deny_all"}), option)


any_pass = passes()


def devices(pass_=any_pass, ids=AREAS):
    entry = st.builds(lambda a, p: {"area_id": a, "pass": p}, st.sampled_from(ids), pass_)
    return modes(st.builds(lambda es: {"default_mode": "option", "areas_list": es}, st.lists(entry, max_size=5)))


def keys(pass_=any_pass):
    unit = st.builds(lambda u, p: {"unit_no": u, "pass": p}, st.sampled_from(["01", "02"]), pass_)
    box = st.builds(
        lambda k, m, us: {"key_device_id": k, "default_mode": m, "units": us},
        st.sampled_from(list(BOXES)),
        st.sampled_from(["allow_all", "deny_all", "option"]),
        st.lists(unit, max_size=3),
    )
    return modes(st.builds(lambda bs: {"default_mode": "option", "key_devices_list": bs}, st.lists(box, max_size=4)))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
strange_devices = st.one_of(
    json_values,
    devices(st.one_of(passes(st.one_of(items, strange_items)), strange_passes)),
    st.builds(
        lambda mode, es: {"default_mode": mode, "areas_list": es, "since": "2027"},
        st.sampled_from(["option", "allow_some", None]),
        st.lists(json_values | st.builds(lambda p: {"area_id": "a1", "pass": p}, strange_passes), max_size=4),
    ),
)
strange_keys = st.one_of(
    json_values,
    keys(st.one_of(passes(st.one_of(items, strange_items)), strange_passes)),
    st.builds(
        lambda mode, es: {"default_mode": mode, "key_devices_list": es},
        st.sampled_from(["option", "allow_some"]),
        st.lists(json_values | st.just({"key_device_id": "k1", "default_mode": "sometimes"}), max_size=4),
    ),
)


def _places(value, path=()):
    yield path, value
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in inner:
        yield from _places(each, (*path, name))


def _put(value, path, new):
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = _put(value[path[0]], path[1:], new)
    return copy


@st.composite
def wild(draw, base):
    """Draw from `base`, with one field more or less or a wrong value, at any depth."""
    value = draw(base)
    odd = json_values | st.sampled_from(
        ["", "\r\n", "<script>", "24:00:00+09:00", 0, -0.0, 1.0, 10**30, "allow_all", []]
    )
    for _ in range(draw(st.integers(1, 3))):
        path, there = draw(st.sampled_from(list(_places(value))))
        if isinstance(there, dict) and draw(st.booleans()):
            name = draw(st.sampled_from(["note", "", "pass", "effect", "mode", "week", "time", *map(str, there)]))
            there = {**there, name: draw(odd)} if draw(st.booleans()) else {k: v for k, v in there.items() if k != name}
        else:
            there = [*there, draw(odd)] if isinstance(there, list) else draw(odd)
        value = _put(value, path, there)
    return value


@st.composite
def holiday_settings(draw):
    named = st.dictionaries(days.map(date.isoformat), st.text(max_size=3), max_size=4)
    return {
        "is_include_public_holiday": draw(st.booleans()),
        "public_holiday": draw(named),
        "include_date": draw(named),
        "exclude_date": draw(named),
        "weekly": draw(st.lists(st.sampled_from(NAMES), max_size=2)),
    }


def oracle_is_holiday(settings, day):
    text = day.isoformat()
    if text in settings["exclude_date"]:
        return False
    reasons = [
        text in settings["include_date"],
        settings["is_include_public_holiday"] and text in settings["public_holiday"],
        NAMES[day.weekday()] in settings["weekly"],
    ]
    return any(reasons)


def _stamp(text):
    hours, minutes, seconds = text.removesuffix("+09:00").split(":")
    return int(hours) * 3600 + int(minutes) * 60 + int(seconds)


def _day_number(day):
    return (day - FIRST_DAY).days


def oracle_item(item, settings, day, second):
    """Check whether one schedule item admits at this second of this day."""
    if item["mode"] == "range":
        now = _day_number(day) * 86400 + second
        edges = [
            _day_number(date.fromisoformat(edge["date"])) * 86400 + _stamp(edge["time"])
            for edge in (item["start"], item["end"])
        ]
        return now in range(edges[0], edges[1] + 1)
    kind = "Holiday" if oracle_is_holiday(settings, day) else NAMES[day.weekday()]
    wanted = list(item["week"])
    return (wanted == ["*"] or kind in wanted) and second in range(
        _stamp(item["start"]["time"]), _stamp(item["end"]["time"]) + 1
    )


def oracle_pass(value, settings, day, second):
    if value["effect"] == "allow":
        return any(oracle_item(item, settings, day, second) for item in value["schedule"])
    return value["effect"] == "allow_all"


def oracle_area(rights, area_id, settings, day, second):
    if rights is None or rights["default_mode"] != "option":
        return rights is not None and rights["default_mode"] == "allow_all"
    return any(
        oracle_pass(entry["pass"], settings, day, second)
        for entry in rights["areas_list"]
        if entry["area_id"] == area_id
    )


def oracle_key(rights, box_id, unit_no, settings, day, second):
    if rights is None or rights["default_mode"] != "option":
        return rights is not None and rights["default_mode"] == "allow_all"
    for box in rights["key_devices_list"]:
        if box["key_device_id"] != box_id or box["default_mode"] == "deny_all":
            continue
        if box["default_mode"] == "allow_all":
            return True
        for unit in box["units"]:
            if unit["unit_no"] == unit_no and oracle_pass(unit["pass"], settings, day, second):
                return True
    return False


def moment(day, second):
    return datetime.combine(day, time(), tzinfo=JST) + timedelta(seconds=second)


def interesting_seconds(*parts):
    """Return the edges named in the rights and their neighbours: walking through every minute takes too long."""
    found = {0, 1, 43200, 86398, 86399}

    def walk(value):
        if isinstance(value, dict):
            for name, inner in value.items():
                if name == "time" and isinstance(inner, str):
                    found.update(_stamp(inner) + near for near in (-1, 0, 1))
                walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)

    for part in parts:
        walk(part)
    return sorted(second for second in found if 0 <= second < 86400)
