/**
 * What a script may try to reach; paths, ports and process ids of it are variables of the script.
 */
export interface Attempt {
  readonly name: string;
  /**
   * For sh. It has escaped when it prints what hidden places contain, "ESCAPED", or more than 1
   * MiB, and when "PWNED" is outside of its folder or in a file `late` in it.
   */
  readonly script: string;
  /** Plainly it succeeds as root only. */
  readonly isForRoot?: true;
  /** Milliseconds after which the sandbox ends it. Default: 30,000. */
  readonly timeout?: number;
  /** Milliseconds to wait for what it left running. Default: none. */
  readonly wait?: number;
}

const ask = (code: string): string =>
  `"$NODE" -e 'const [x] = process.argv.slice(1); setTimeout(() => process.exit(), 2000).unref(); ${code}'`;

const files: readonly Attempt[] = [
  { name: "reads a key of ssh", script: "cat $BASE/home/.ssh/id" },
  {
    name: "reads the passwords",
    script: "grep -q ^root: /etc/shadow && echo ESCAPED",
    isForRoot: true,
  },
  { name: "writes outside", script: "echo PWNED > $BASE/proof/outside" },
  { name: "writes the shell's settings", script: "echo PWNED >> $BASE/home/.bashrc" },
  { name: "reads through a symlink", script: "ln -sf $BASE/home/.ssh/id link; cat link" },
  { name: "writes through a symlink", script: "ln -sf $BASE/home/.bashrc l; echo PWNED >> l" },
  {
    name: "reads through a hard link",
    script: "ln -f $BASE/home/.ssh/id hard; cat hard; rm -f hard",
  },
  { name: "reads below ..", script: "cat ../home/.ssh/id" },
  { name: "reads through its own root", script: "cat /proc/self/root$BASE/home/.ssh/id" },
  {
    name: "reads through the root of its parent",
    script: "cat /proc/$PPID/root$BASE/home/.ssh/id",
  },
  { name: "reads an inherited file", script: "cat <&7" },
  { name: "reads an open file of its parent", script: "cat /proc/$DRIVER/fd/7" },
  { name: "changes an installed package", script: "echo PWNED > node_modules/dep/index.js" },
  {
    name: "adds an installed package",
    script: "mkdir node_modules/evil; echo PWNED > node_modules/evil/index.js",
  },
  {
    name: "moves an installed package away",
    script: "mv node_modules/dep $BASE/proof/PWNED && echo PWNED > $BASE/proof/PWNED/a",
  },
  { name: "changes the original's manifest", script: "echo PWNED > ../original/package.json" },
  { name: "lists the temporary folder", script: 'ls -d "$BASE"/home && echo ESCAPED' },
  { name: "lists the sockets of services", script: "ls /run/* && echo ESCAPED" },
  { name: "lists the hardware", script: "ls /sys/class/* && echo ESCAPED" },
  { name: "reads shared memory", script: "cat $SHM" },
  { name: "makes a device", script: "rm -f d; mknod d c 1 3 && echo ESCAPED", isForRoot: true },
];

const network: readonly Attempt[] = [
  {
    name: "asks a server on the loopback",
    script: `${ask("require(`net`).connect(x, `127.0.0.1`).pipe(process.stdout)")} $TCP`,
  },
  {
    name: "asks a server over IPv6",
    script: `${ask("require(`net`).connect(x, `::1`).pipe(process.stdout)")} $TCP`,
  },
  {
    name: "asks over UDP",
    script: `${ask("const s = require(`dgram`).createSocket(`udp4`); s.on(`message`, (m) => { console.log(String(m)); s.close(); }); s.send(`x`, x, `127.0.0.1`)")} $UDP; sleep 0.1`,
  },
  {
    name: "asks a name server",
    script: `${ask("const r = new (require(`dns`).Resolver)({ tries: 1, timeout: 1500 }); r.setServers([`127.0.0.1:` + x]); r.resolveTxt(`a.test`, (e) => e?.code === `EBADRESP` && console.log(`ESCAPED`))")} $UDP`,
  },
  {
    name: "asks a unix socket",
    script: `${ask("require(`net`).connect(x).pipe(process.stdout)")} $BASE/socket`,
  },
  {
    name: "asks an abstract socket",
    script: `${ask("require(`net`).connect(`\\0` + x).pipe(process.stdout)")} $ABSTRACT`,
  },
  {
    name: "lists the connections of the machine",
    script: 'grep -qi ":$HEX " /proc/net/tcp /proc/net/tcp6 && echo ESCAPED',
  },
  {
    name: "lists the sockets of the machine",
    script: "grep -q $BASE/socket /proc/net/unix && echo ESCAPED",
  },
  {
    name: "opens a raw socket",
    script: "perl -e 'socket(S, 2, 3, 1) and print qq(ESCAPED)'",
    isForRoot: true,
  },
];

const processes: readonly Attempt[] = [
  {
    name: "sees processes of the machine",
    script: "grep -qa escape-driver /proc/$DRIVER/cmdline && echo ESCAPED",
  },
  {
    name: "reads the environment of its parent",
    script: "grep -ao 'KEY=ESCAPED' /proc/$DRIVER/environ",
  },
  { name: "reads our environment in its own", script: "env | grep ESCAPED" },
  { name: "signals a process", script: "kill -0 $DRIVER && echo ESCAPED" },
  {
    name: "reads the memory of a process",
    script: "head -c 9 /proc/$DRIVER/maps | grep -q . && echo ESCAPED",
  },
  {
    name: "leaves a process that writes later",
    script: "setsid sh -c 'sleep 1; echo PWNED > late' > /dev/null 2>&1 &",
    wait: 1_500,
  },
  {
    name: "leaves a process whose parents are gone",
    script: "(nohup setsid sh -c 'sleep 1; echo PWNED > late' > /dev/null 2>&1 &) & wait",
    wait: 1_500,
  },
  {
    name: "lists shared memory of processes",
    script: "ipcs -m | grep -q ' 4242 ' && echo ESCAPED",
  },
];

const kernel: readonly Attempt[] = [
  {
    name: "reads the log of the kernel",
    script: "dmesg | grep -q . && echo ESCAPED",
    isForRoot: true,
  },
  {
    name: "writes settings of the kernel",
    script: "f=/proc/sys/vm/swappiness; v=$(cat $f); echo $v > $f && echo ESCAPED",
    isForRoot: true,
  },
  {
    name: "mounts",
    script: "mkdir -p m; mount -t tmpfs t m && echo ESCAPED && umount m",
    isForRoot: true,
  },
  {
    name: "mounts again, to write",
    script: "mount --bind . . && mount -o remount,bind,rw . && echo ESCAPED; umount -l .",
    isForRoot: true,
  },
  {
    name: "has powers in further name spaces",
    script:
      "unshare --user --map-root-user --mount sh -c 'mount -t tmpfs t /usr/share' && echo ESCAPED",
  },
  { name: "changes its root", script: "chroot / true && echo ESCAPED", isForRoot: true },
  { name: "reads a key of the session", script: "perl $BASE/read-key.pl" },
  {
    name: "may gain privileges",
    script: "grep -q 'NoNewPrivs:.0' /proc/self/status && echo ESCAPED",
  },
  {
    name: "has capabilities left to gain",
    script: "grep -q 'CapBnd:.*[1-9a-f]' /proc/self/status && echo ESCAPED",
  },
  { name: "reads the name of the machine", script: '[ "$(hostname)" = "$HOST" ] && echo ESCAPED' },
];

const resources: readonly Attempt[] = [
  {
    name: "starts 600 processes",
    script:
      "perl -e 'for (1..600) { $p = fork; last unless defined $p; if (!$p) { sleep 20; exit } push @p, $p } print qq(ESCAPED) if @p == 600; kill 9, @p'",
  },
  { name: "writes a file of 1 GiB", script: "truncate -s 1G big && echo ESCAPED; rm -f big" },
  { name: "takes memory", script: "perl -e 'vec($x, 1_250_000_000, 8) = 1; print qq(ESCAPED)'" },
  {
    name: "fills the temporary folder",
    script: "head -c 80M /dev/zero > /tmp/$$.fill && echo ESCAPED; rm -f /tmp/$$.fill",
  },
  {
    name: "fills shared memory",
    script: "head -c 80M /dev/zero > /dev/shm/$$.fill && echo ESCAPED; rm -f /dev/shm/$$.fill",
  },
  { name: "prints without end", script: "head -c 3M /dev/zero | tr '\\0' x" },
  {
    name: "calculates beyond its time",
    script: "perl -e '$t = time + 6; 1 while time < $t; print qq(ESCAPED)'",
    timeout: 4_000,
  },
  {
    name: "ignores that its time is over",
    script: "trap '' TERM INT HUP; sleep 6; echo ESCAPED",
    timeout: 4_000,
  },
  { name: "opens thousands of files", script: "ulimit -n 4096 && echo ESCAPED" },
];

/** Ways out of a sandbox. */
export const attempts: readonly Attempt[] = [
  ...files,
  ...network,
  ...processes,
  ...kernel,
  ...resources,
];
