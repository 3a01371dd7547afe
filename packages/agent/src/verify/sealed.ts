import { existsSync, lstatSync, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { availableParallelism, homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { AgentError } from "../errors.ts";
import type { ExecOptions } from "./sandbox.ts";

/** Parts of the machine that a sealed command sees, and limits of the command. */
export interface SealedOptions extends Pick<ExecOptions, "cwd" | "processes"> {
  /** Folders that it sees read-only, each at its own path. `cwd` may be one of them. */
  readonly readOnly: readonly string[];
  /** MiB of a Node heap; of its files in memory, too. */
  readonly memory: number;
  /** Milliseconds of its time, which its CPU time is limited by. */
  readonly timeout: number;
}

/** Programs and their libraries: shown read-only, links as links. */
const system = ["usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32"].map((name) => `/${name}`);

/** Parts of /etc that programs need. Users, hosts and names are written for the sandbox. */
const settings = `alternatives ca-certificates ld.so.cache ld.so.conf ld.so.conf.d localtime
  mime.types pki/ca-trust/extracted pki/tls/certs protocols services ssl/certs ssl/openssl.cnf`
  .split(/\s+/)
  .map((name) => `/etc/${name}`);

const devices = ["null", "zero", "full", "random", "urandom"].map((name) => `/dev/${name}`);

/** Entries of /proc that show the machine, or act on it. */
const masked = `acpi bus driver fs irq kcore key-users keys kmsg latency_stats mtrr sched_debug
  scsi sysrq-trigger timer_list timer_stats`
  .split(/\s+/)
  .map((name) => `/proc/${name}`);

const unprivileged = 65_534;

/** The user for commands of root, so that process limits count; undefined without root. */
export function sandboxUser(): number | undefined {
  // Root of a container with its user namespace is an ordinary user to the kernel.
  const isRoot =
    process.getuid?.() === 0 && /^\s*0\s+0\s/.test(readFileSync("/proc/self/uid_map", "utf8"));
  return isRoot ? unprivileged : undefined;
}

/**
 * A command line that runs `command` sealed, with tools of util-linux alone. All it starts ends
 * with its first process.
 *
 * Two shells build the sandbox. The first has an own user, mount, process, network, IPC and host
 * name space (root needs no user name space), and makes the file system. The second has one more
 * user name space, in which mounts cannot be undone; it forbids further ones, drops every
 * capability and becomes the first process of the sandbox.
 *
 * @throws AgentError `ERR_AGENT_SANDBOX` for a folder that must not be shown, or that the command
 * could not write
 */
export function sealedCommand(command: readonly string[], options: SealedOptions): string[] {
  const { memory, timeout } = options;
  const cwd = realpathSync(options.cwd);
  const readOnly = options.readOnly.map((path) => realpathSync(path));
  for (const path of [cwd, ...readOnly]) checkFolder(path);
  const root = sandboxUser();
  const user = userOf(cwd, readOnly.includes(cwd));
  const enter = ["unshare", "--mount", `--map-user=${user}`, `--map-group=${user}`, "--keep-caps"];
  const limits = {
    // Threads count, of which Node has a dozen.
    nproc: options.processes ?? Math.min(512, 64 + 16 * availableParallelism()),
    // A process of Node needs some hundred MiB of address space in addition to its heap.
    data: (memory * 2 + 1024) * 1024 * 1024,
    fsize: 512 * 1024 * 1024,
    cpu: Math.ceil(timeout / 1_000) * availableParallelism() + 1,
    core: 0,
    nofile: 1024,
  };
  const drop = ["setpriv", "--pdeathsig=KILL", "--no-new-privs"].concat(
    ["ambient-caps", "inh-caps", "bounding-set"].map((set) => `--${set}=-all`),
  );
  const inner = [
    "set -eu",
    "echo 0 > /proc/sys/user/max_user_namespaces",
    "mount --bind -o ro,nosuid,nodev,noexec /proc/sys /proc/sys",
    "mount -o remount,bind,ro,nosuid,nodev /",
    `cd ${quote(cwd)}`,
    // The first process of a name space takes no signals: it is one that waits for the command.
    `exec prlimit ${Object.entries(limits)
      .map(([name, maximum]) => `--${name}=${maximum}`)
      .join(" ")} ${drop.join(" ")} sh -c '"$@"; exit $?' sh "$@"`,
  ].join("\n");
  const become =
    root === undefined ? [] : ["setpriv", `--reuid=${user}`, `--regid=${user}`, "--clear-groups"];
  return [
    "setpriv",
    "--pdeathsig=KILL",
    "unshare",
    ...(root === undefined ? ["--map-root-user"] : []),
    ..."--mount --pid --net --ipc --uts --cgroup --fork --kill-child sh -c".split(" "),
    `${fileSystem({ cwd, readOnly, memory, user })}\n${newKeyring}
exec "$@"`,
    "sh",
    ...become,
    ...enter,
    "sh",
    "-c",
    inner,
    "sh",
    ...command,
  ];
}

interface View extends Pick<SealedOptions, "cwd" | "readOnly" | "memory"> {
  readonly user: number;
}

/**
 * A name space keeps the session's keyring of the kernel, with its keys. No tool of util-linux
 * makes the system call that joins a new one. Perl does, where it is installed.
 */
const joinKeyring = new Map([
  ["x64", 250],
  ["arm64", 219],
]).get(process.arch);
const newKeyring =
  joinKeyring === undefined
    ? ""
    : `command -v perl > /dev/null && set -- perl -e 'syscall(${joinKeyring}, 1, 0); exec @ARGV or die' "$@"`;

/** A line of a table of mounts: source, place, options, and type. */
type Mount = readonly [from: string, at: string, options: string, type?: string];

/** The script of the first shell. The root it had is at /old until everything is taken from it. */
function fileSystem({ cwd, readOnly, memory, user }: View): string {
  const fixed = "rbind,ro,nosuid,nodev,X-mount.mkdir";
  const files = `size=${memory}m,nr_inodes=100k,nosuid,nodev,X-mount.mkdir`;
  const links = system.filter(isLink);
  const hidden = masked.filter((path) => existsSync(path));
  const shown = [...settings, ...devices].filter((path) => existsSync(path));
  const projects = [...new Set([cwd, ...nodeFolders(), ...readOnly])];
  // Folders come before what is in them.
  projects.sort((one, other) => one.length - other.length);
  const isFixed = (path: string): boolean => path !== cwd || readOnly.includes(path);
  const first = system
    .filter((path) => existsSync(path) && !isLink(path))
    .map((path): Mount => [path, `/tmp${path}`, fixed]);
  const then: readonly Mount[] = [
    ["proc", "/proc", "nosuid,nodev,noexec", "proc"],
    ["tmpfs", "/tmp", `${files},mode=1777`, "tmpfs"],
    ["tmpfs", "/dev/shm", `${files},mode=1777`, "tmpfs"],
    ...hidden.map((path): Mount =>
      isFolder(path)
        ? ["tmpfs", path, "ro,size=4k", "tmpfs"]
        : ["/old/dev/null", path, "bind,ro,nosuid,noexec"],
    ),
    ...devices.map((path): Mount => [`/old${path}`, path, "bind,ro,nosuid,noexec"]),
    ...settings
      .filter((path) => existsSync(path))
      .map((path): Mount => [`/old${path}`, path, fixed]),
    ...projects.map((path): Mount => [
      `/old${path}`,
      path,
      isFixed(path) ? fixed : fixed.replace("ro,", ""),
    ]),
  ];
  // A mount does not make mounts below a folder read-only.
  const writable = ["/", "/proc", "/proc/*", "/tmp", "/dev/shm"].concat(
    isFixed(cwd) ? [] : [quote(escaped(cwd)), `${quote(escaped(cwd))}/*`],
  );
  const inFixed = projects.filter(isFixed).map((path) => `${quote(escaped(path))}/*`);
  return `set -eu
umask 022
mount -t tmpfs -o size=4m,mode=755,nosuid,nodev tmpfs /tmp
cd /tmp
mkdir -p old proc dev var etc/ssl
for file in ${shown
    .filter((path) => !isFolder(path))
    .map(quote)
    .join(" ")}; do : > "/tmp$file"; done
ln -s /proc/self/fd dev/fd
ln -s /proc/self/fd/0 dev/stdin
ln -s /proc/self/fd/1 dev/stdout
ln -s /proc/self/fd/2 dev/stderr
${links.map((path) => `ln -s ${quote(readlinkSync(path))} ${quote(`/tmp${path}`)}`).join("\n")}
echo 'user:x:${user}:${user}::/tmp:/bin/sh' > etc/passwd
echo 'user:x:${user}:' > etc/group
echo '127.0.0.1 localhost sandbox' > etc/hosts
echo '::1 localhost' >> etc/hosts
echo 'hosts: files' > etc/nsswitch.conf
printf %s ${quote(table(first))} > etc/fstab
mount -a -T etc/fstab
pivot_root . old
cd /
printf %s ${quote(table(then))} > etc/fstab
mount -a -T etc/fstab
while read -r _ _ _ _ place options _; do
  case $place in
    ${[...inFixed, "''"].join("|")}) ;;
    /old|/old/*|${writable.join("|")}) continue ;;
  esac
  case $options in
    rw*) mount -o "remount,bind,ro\${options#rw}" "$(printf %b "$place")" ;;
  esac
done < /proc/self/mountinfo
umount -l /old
rmdir /old
hostname sandbox
ip link set lo up 2>&- || ifconfig lo up 2>&- || :`;
}

function table(mounts: readonly Mount[]): string {
  return mounts
    .map(([from, at, options, type = "none"]) => {
      return `${escaped(from)} ${escaped(at)} ${type} ${options}\n`;
    })
    .join("");
}

/** A path as tables of mounts write it. */
function escaped(path: string): string {
  return path.replaceAll("\\", "\\134").replaceAll(" ", "\\040");
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

function isFolder(path: string): boolean {
  return statSync(path).isDirectory();
}

/** Node, and the npm that came with it, where they are no part of the system. */
function nodeFolders(): readonly string[] {
  const bin = dirname(realpathSync(process.execPath));
  return [bin, join(bin, "../lib/node_modules")].filter(
    (path) => existsSync(path) && !path.startsWith("/usr/"),
  );
}

/**
 * The user that the command runs as: this one, or of root the owner of its folder.
 *
 * @throws AgentError `ERR_AGENT_SANDBOX` where only root can write the folder
 */
function userOf(cwd: string, isFixed: boolean): number {
  if (sandboxUser() === undefined) return process.getuid?.() || unprivileged;
  const { uid, mode } = statSync(cwd);
  if (uid !== 0) return uid;
  if (isFixed || (mode & 0o002) !== 0) return unprivileged;
  throw new AgentError(
    "ERR_AGENT_SANDBOX",
    `the folder ${cwd} belongs to root, and sealed commands do not run as root: ` +
      `change its owner (chown -R ${unprivileged} .), or show it read-only`,
  );
}

/** A user without a name and without HOME has none. */
function homeFolder(): string {
  try {
    return homedir();
  } catch {
    return "/root";
  }
}

/** @throws AgentError `ERR_AGENT_SANDBOX` for a folder that shows what the sandbox is to hide */
function checkFolder(path: string): void {
  const machine = ["/etc", "/proc/sys", "/dev/shm", "/run", "/usr", "/var/tmp"];
  const kept = [homeFolder(), tmpdir(), ...machine];
  const shows = kept.find((one) => `${one}/`.startsWith(path === "/" ? path : `${path}/`));
  const hasControls = /\p{Cc}/u.test(path);
  if (shows === undefined && !hasControls) return;
  throw new AgentError(
    "ERR_AGENT_SANDBOX",
    `the folder ${JSON.stringify(path)} cannot be shown in a sandbox: ${hasControls ? "its name has control characters" : `it contains ${shows}`}`,
  );
}
