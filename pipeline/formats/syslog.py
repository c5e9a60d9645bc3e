"""Node logs: what the daemons of a host told syslog or the journal, kernel lines among them.

A trainer that runs as a service logs into the same journal, and its lines must stay its own: only daemons
that every cluster has are known here by name. Where a collector writes a label or the fields of RFC 5424,
that is proof enough, and the program may be any.
"""

from __future__ import annotations

from pipeline.formats._syslog_dress import ISO, JOURNAL_MARK, SYSLOG, dress_patterns
from pipeline.formats.format import Format, known_line

_DAEMONS = (
    *("kernel", "systemd", "systemd-logind", "systemd-networkd", "systemd-resolved", "systemd-timesyncd"),
    *("systemd-journald", "systemd-udevd", "systemd-coredump", "systemd-shutdown", "systemd-modules-load"),
    *("containerd", "dockerd", "crio", "conmon", "etcd", "kube-proxy", "node-problem-detector"),
    *("nvidia-fabricmanager", "nv-fabricmanager", "nvidia-persistenced", "nvidia-imex", "nv-hostengine"),
    *("nvlsm", "dcgm-exporter", "opensm", "ib_sm.x", "ibacm", "rdma-ndd", "srp_daemon", "mst"),
    *("mmfs", "mmfsd", "mmsysmon", "weka", "wekanode", "wekafsgw", "ceph-mon", "ceph-osd", "ceph-mds"),
    *("rpc.statd", "rpcbind", "nfsidmap", "automount", "multipathd", "iscsid", "lvm", "smartd", "mdadm"),
    *("slurmd", "slurmstepd", "munged", "pbs_mom", "sge_execd", "nhc", "nhc-wrapper"),
    *("sshd", "sudo", "su", "crond", "CRON", "cron", "anacron", "run-parts", "logrotate", "auditd", "audit"),
    *("rsyslogd", "syslogd", "syslog-ng", "chronyd", "ntpd", "ptp4l", "phc2sys", "dhclient", "dhcpd"),
    *("NetworkManager", "dbus-daemon", "dbus-broker", "polkitd", "irqbalance", "tuned", "snmpd", "xinetd"),
    *(
        "rasdaemon",
        "mcelog",
        "ipmievd",
        "ipmiseld",
        "gmond",
        "gmetad",
        "telegraf",
        "collectd",
        "puppet-agent",
    ),
    *("sssd", "sssd_be", "nslcd", "sendmail", "postfix/qmgr", "snapd", "thermald", "power-profiles-daemon"),
)
_NAMES = "(?:" + "|".join(name.replace(".", r"\.") for name in _DAEMONS) + ")"
_LITERALS = tuple(f" {name}{end}" for name in _DAEMONS for end in ("[", ":", "("))

#: The agent of Kubernetes on a node, also under the name that it has in OpenShift.
_KUBELET = r"(?:kubelet|kubenswrapper|hyperkube|k3s|rke2)(?:\[\d+\])?: "
_KUBELET_LITERALS = tuple(
    f" {name}{end}" for name in ("kubelet", "kubenswrapper", "hyperkube", "k3s", "rke2") for end in ("[", ":")
)

FORMAT = Format(
    name="syslog",
    title="Node logs: syslog and journal of the daemons of a host",
    link="https://www.freedesktop.org/software/systemd/man/latest/journalctl.html",
    role="node",
    versions="RFC 3164 and RFC 5424 syslog, rsyslog, journalctl, kubelet in the journal, labelled HPC syslog",
    deciding=(
        "syslog",
        "syslog_iso",
        "journal_full",
        "journal_unix",
        "kubelet",
        "kubelet_iso",
        "labelled",
        "rfc5424",
    ),
    least_share=0.2,
    unrendered="The simulator writes a host's faults as kernel messages, which carry the same lines.",
    patterns=(
        *dress_patterns("", _LITERALS, _NAMES),
        # Nov 10 14:17:41.900439 gx017 kubelet[2296]: E1110 14:17:41.900391    2296 pod_workers.go…
        known_line("kubelet", _KUBELET_LITERALS, rf"^(?:<\d+>)?{SYSLOG} [\w.-]+ {_KUBELET}"),
        known_line("kubelet_iso", _KUBELET_LITERALS, rf"^(?:<\d+>)?{ISO} [\w.-]+ {_KUBELET}"),
        # <30>1 2026-03-01T10:11:12.003456Z gx017 kubelet 2296 - - …
        known_line("rfc5424", (">1 2",), rf"^<\d+>1 {ISO} [\w.-]+ \S+ \S+ \S+ (?:-|\[.*\])(?: |$)"),
        # - 1131566461 2005.11.09 dn228 Nov 9 12:01:01 dn228/dn228 crond[2916]: …
        known_line(
            "labelled",
            tuple(f" {year}." for year in range(2001, 2040)),
            r"^(?:-|[A-Z][A-Z_]*) \d{10} 20\d\d\.\d\d\.\d\d \S+ "
            r"(?:[A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d|\d{4}-\S+) \S+(?: |$)",
            "Thunderbird, Spirit, Liberty, BlueGene/L",
            "The label says what a person thought of the line; it is not read.",
        ),
        JOURNAL_MARK,
    ),
)
