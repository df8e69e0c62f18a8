# ruff: noqa: E501
"""What an attack tries to reach. Each goal uses `imp`, `args` and `out`.

`out(f, …)` calls functions and notes what they return: a secret is the proof that one was read,
and `REACHED` that something was done that leaves no other trace.
"""

from __future__ import annotations

GOALS: dict[str, str] = {
    "read the canary": """
        os, io = imp('os'), imp('io')
        path = args['canary']
        out(
            lambda: io.open(path).read(),
            lambda: os.read(os.open(path, os.O_RDONLY), 100),
            lambda: os.read(os.open('/proc/self/root' + path, os.O_RDONLY), 100),
            lambda: os.read(os.open('/proc/%d/root%s' % (args['pid'], path), os.O_RDONLY), 100),
            lambda: os.listdir(os.path.dirname(path)),
            lambda: [os.link(path, 'mine'), io.open('mine').read()],
            lambda: [os.symlink(path, 'mine'), io.open('mine').read()],
            lambda: [os.rename(path, 'mine'), io.open('mine').read()],
            lambda: io.open(imp('linecache').getline(path, 1)),
            lambda: imp('linecache').getline(path, 1),
            lambda: imp('mmap').mmap(os.open(path, os.O_RDONLY), 0)[:],
            lambda: os.read(os.open('../' * 20 + path[1:], os.O_RDONLY), 100),
        )
        """,
    "change the canary": """
        os, io = imp('os'), imp('io')
        path = args['canary']
        out(
            lambda: io.open(path, 'w').write('changed'),
            lambda: io.open(path, 'a').write('changed'),
            lambda: os.truncate(path, 0),
            lambda: os.chmod(path, 0o777),
            lambda: os.chown(path, 1, 1),
            lambda: os.utime(path, (1, 1)),
            lambda: os.setxattr(path, 'user.x', b'x'),
            lambda: os.rename(path, path + '.new'),
            lambda: [io.open('own', 'w'), os.replace('own', path)],
            lambda: os.unlink(path),
            lambda: os.mkdir(path + '.folder'),
            lambda: os.mkfifo(path + '.fifo'),
            lambda: os.link(path, path + '.link'),
            lambda: os.symlink('/', path + '.symlink'),
            lambda: imp('ctypes').CDLL(None).truncate(path.encode(), 0),
            lambda: imp('ctypes').CDLL(None).chmod(path.encode(), 0o777),
        )
        """,
    "write elsewhere": """
        os, io = imp('os'), imp('io')
        out(*[
            lambda folder=folder: io.open(os.path.join(folder, args['mark']), 'w').write('x')
            for folder in args['folders']
        ])
        """,
    "connect by TCP": """
        socket = imp('socket')
        address = ('127.0.0.1', args['port'])
        def raw():
            s = socket.socket()
            s.connect(address)
            return 'REACHED'
        def adopted():
            a, b = socket.socketpair()
            imp('ctypes').CDLL(None).connect(a.fileno(), b'\\2\\0' + address[1].to_bytes(2, 'big')
                + bytes([127, 0, 0, 1]) + bytes(8), 16)
            raise OSError
        def datagram():
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', address)
            return 'REACHED'
        def packet():
            socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)
            return 'REACHED'
        def listen():
            s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()
            return 'REACHED' if args['network'] else ''
        out(raw, adopted, listen, lambda: socket.create_connection(address) and 'REACHED',
            lambda: imp('urllib.request').urlopen('http://127.0.0.1:%d' % args['port']))
        if args['network']:
            out(datagram, packet)
        """,
    "connect to a path": """
        socket = imp('socket')
        def stream():
            socket.socket(socket.AF_UNIX).connect(args['socket'])
            return 'REACHED'
        def pair():
            a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
            a.sendto(b'x', args['datagram'])
            return 'REACHED'
        def message():
            a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
            a.sendmsg([b'x'], [], 0, args['datagram'])
            return 'REACHED'
        def sequence():
            a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            a.connect(args['socket'])
            return 'REACHED'
        out(stream, pair, message, sequence)
        """,
    "connect to an abstract name": """
        socket = imp('socket')
        def stream():
            socket.socket(socket.AF_UNIX).connect(args['abstract'])
            return 'REACHED'
        def pair():
            a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
            a.connect(args['abstract'])
            return 'REACHED'
        out(stream, pair)
        """,
    "read the host's memory": """
        os, io, ctypes = imp('os'), imp('io'), imp('ctypes')
        libc = ctypes.CDLL(None, use_errno=True)
        size = args['size']
        class Vector(ctypes.Structure):
            _fields_ = [('base', ctypes.c_void_p), ('length', ctypes.c_size_t)]
        def vectors():
            buffer = ctypes.create_string_buffer(size)
            ours, theirs = Vector(ctypes.addressof(buffer), size), Vector(args['address'], size)
            libc.process_vm_readv(args['pid'], ctypes.byref(ours), 1, ctypes.byref(theirs), 1, 0)
            return buffer.raw
        def memory(pid):
            with io.open('/proc/%s/mem' % pid, 'rb', 0) as file:
                file.seek(args['address'])
                return file.read(size)
        def trace(pid):
            return 'REACHED' if libc.ptrace(16, pid, 0, 0) == 0 else ''
        out(vectors, lambda: memory(args['pid']), lambda: memory(os.getppid()))
        if args['trace']:
            out(lambda: trace(args['pid']), lambda: trace(os.getppid()),
                lambda: 'REACHED' if libc.ptrace(0x4206, args['pid'], 0, 0) == 0 else '',
                lambda: io.open('/proc/%d/maps' % args['pid']).read() and 'REACHED')
        """,
    "end another process": """
        os, signal, ctypes = imp('os'), imp('signal'), imp('ctypes')
        libc = ctypes.CDLL(None, use_errno=True)
        victim = args['victim']
        def by_descriptor():
            signal.pidfd_send_signal(os.pidfd_open(victim), signal.SIGKILL)
            return 'REACHED'
        def by_owner():
            fcntl = imp('fcntl')
            a, b = imp('socket').socketpair()
            fcntl.fcntl(a, fcntl.F_SETOWN, victim)
            fcntl.fcntl(a, 10, 9)
            fcntl.fcntl(a, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
            b.send(b'x')
            return 'REACHED'
        def by_limit():
            resource = imp('resource')
            resource.prlimit(victim, resource.RLIMIT_CPU, (0, 0))
            return 'REACHED'
        out(by_descriptor, by_owner, by_limit,
            lambda: os.kill(victim, 9),
            lambda: os.killpg(victim, 9),
            lambda: libc.syscall(234, victim, victim, 9),
            lambda: libc.syscall(200, victim, 9),
            lambda: os.setpriority(os.PRIO_PROCESS, victim, 19) or 'REACHED',
            lambda: os.sched_setaffinity(victim, {0}) or 'REACHED')
        if args['alone']:
            out(lambda: os.kill(-1, 0) or 'REACHED', lambda: os.kill(os.getppid(), 0) or 'REACHED')
        """,
    "read the host's environment": """
        os, io = imp('os'), imp('io')
        out(lambda: dict(os.environ), lambda: io.open('/proc/self/environ').read(),
            lambda: io.open('/proc/%d/environ' % args['pid']).read(),
            lambda: io.open('/proc/%d/environ' % os.getppid()).read(),
            lambda: io.open('/proc/%d/cmdline' % args['pid']).read() and 'REACHED',
            lambda: os.readlink('/proc/%d/cwd' % args['pid']) and 'REACHED')
        """,
    "start a process": """
        os, ctypes = imp('os'), imp('ctypes')
        libc = ctypes.CDLL(None, use_errno=True)
        touch = 'touch ' + args['touch']
        def fork(call):
            pid = call()
            if pid == 0:
                os._exit(0)
            return 'REACHED' if pid > 0 and args['alone'] else ''
        def child(pid):
            if pid == 0:
                libc._exit(0)
            return 'REACHED' if pid > 0 and args['alone'] else ''
        out(lambda: os.system(touch), lambda: os.popen(touch).read(),
            lambda: imp('subprocess').run(touch, shell=True),
            lambda: os.posix_spawn('/bin/sh', ['sh', '-c', touch], {}),
            lambda: imp('asyncio').run(imp('asyncio').create_subprocess_shell(touch)),
            lambda: fork(os.fork), lambda: fork(libc.fork), lambda: child(libc.syscall(57)),
            lambda: child(libc.syscall(56, 17, 0, 0, 0, 0)),
            lambda: imp('pty').spawn(['/bin/sh', '-c', touch]),
            lambda: imp('multiprocessing').Process(target=print).start() or
                ('REACHED' if args['alone'] else ''))
        if args['alone']:
            out(lambda: os.execv('/bin/sh', ['sh', '-c', touch]))
        """,
    "call the kernel": """
        ctypes = imp('ctypes')
        libc = ctypes.CDLL(None, use_errno=True)
        path = ctypes.create_string_buffer(256)
        calls = {
            'ptrace': (101, 0, 0, 0, 0), 'unshare': (272, 0x10000000), 'setns': (308, 0, 0),
            'mount': (165, path, path, path, 0, 0), 'chroot': (161, b'/'), 'bpf': (321, 0, path, 72),
            'keyctl': (250, 0, -3, 1), 'add_key': (248, b'user', b'x', b'y', 1, -3),
            'io_uring_setup': (425, 4, path), 'userfaultfd': (323, 1),
            'perf_event_open': (298, path, 0, -1, -1, 0), 'pidfd_open': (434, args['victim'], 0),
            'memfd_create': (319, b'x', 0), 'socket': (41, 1, 1, 0), 'fork': (57,),
            'clone3': (435, path, 64), 'openat2': (437, -100, b'/etc/passwd', path, 24),
            'name_to_handle_at': (303, -100, b'/etc/passwd', path, path, 0), 'setuid': (105, 0),
            'capset': (126, path, path), 'personality': (135, 0x0040000), 'setsid': (112,),
            'setpgid': (109, 0, 0), 'prctl': (157, 4, 1, 0, 0, 0), 'seccomp': (317, 1, 0, path),
            'landlock_create_ruleset': (444, 0, 0, 1), 'chmod': (90, b'.', 0o777),
            'kcmp': (312, args['pid'], args['pid'], 0, 0, 0), 'process_madvise': (440, 0, 0, 0, 0, 0),
            'quotactl': (179, 0, 0, 0, 0), 'reboot': (169, 0, 0, 0, 0), 'swapon': (167, path, 0),
            'init_module': (175, path, 0, path), 'kexec_load': (246, 0, 0, 0, 0),
            'fanotify_init': (300, 0, 0), 'inotify_init': (253,), 'shmget': (29, 0, 4096, 0o1600),
            'msgget': (68, 0, 0o1600), 'semget': (64, 0, 1, 0o1600), 'mq_open': (240, b'x', 0o102, 0o600, 0),
            'timer_create': (222, 0, 0, path), 'setrlimit': (160, 7, path), 'splice': (275, 0, 0, 0, 0, 1, 0),
            'unnamed file': (257, -100, b'.', 0o20200002, 0o600),
        } if args['alone'] else {}
        for name, words in calls.items():
            if libc.syscall(*words) >= 0:
                out.append('REACHED ' + name)
        """,
}


def names() -> list[str]:
    """The goals' names in their order."""
    return list(GOALS)
