"""Clusters by settings: one for each, and no more than a process can keep."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.zoekt import hosts
from triseek import config
from triseek.errors import Cancelled, InvalidRequest
from triseek.model.code_search import CodeRequest
from triseek.zoekt import configured

NEEDLE = CodeRequest(query="needle", seconds=2)


@pytest.fixture(autouse=True)
def clusters(monkeypatch):
    """The clusters of this process, none at first."""
    kept = type(configured._clusters)()
    monkeypatch.setattr(configured, "_clusters", kept)
    yield kept
    for cluster in kept.values():
        cluster.close()


def settings(url="http://127.0.0.1:1", **values):
    return replace(config.Settings(), zoekt_api_url=url, **values)


def test_equal_settings_have_the_same_cluster_whatever_else_differs():
    first = configured.cluster(settings())
    assert configured.cluster(settings(memory_dream=False)) is first
    assert configured.cluster(settings(zoekt_timeout_s=1.0)) is not first


def test_the_cluster_in_use_is_that_of_the_client():
    with configured.used(settings()):
        assert configured.cluster() is configured.cluster(settings())


def test_without_hosts_there_is_no_cluster():
    assert not configured.is_configured(settings(url=""))
    with pytest.raises(InvalidRequest, match="no hosts"):
        configured.cluster(settings(url=""))


def test_the_cluster_unused_for_longest_is_closed(monkeypatch, clusters):
    monkeypatch.setattr(configured, "CLUSTERS_MAX", 2)
    with hosts.serving(hosts.routes(search=hosts.found())) as host:
        first, second = (configured.cluster(settings(host.url, zoekt_timeout_s=s)) for s in (1, 2))
        assert configured.cluster(settings(host.url, zoekt_timeout_s=1)) is first
        configured.cluster(settings(host.url, zoekt_timeout_s=3))

        assert len(clusters) == 2
        assert first.search(NEEDLE).partial == ()
        with pytest.raises(Cancelled):
            second.search(NEEDLE)
