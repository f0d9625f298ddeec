/**
 * What the agent runs in a guest that becomes a machine of its own. Arguments: its host name, its machine-id, and for each card the address that
 * it has and the one that it gets. Standard input: what no other machine knows.
 *
 * Its random numbers come first: two machines that go on with one memory would draw the same ones, and make the same keys of them, until their kernels
 * seed themselves anew, which takes up to a minute. What is written to /dev/urandom is used from then on; RNDRESEEDCRNG says "now", for which there is no
 * command: a program of 64 bits does it, and perl or python3 where that cannot run. Without any of them no keys are made: it fails.
 */

const CODE_AT = 0x78;
const LOAD_AT = 0x400000;
const PATH = '/dev/random\0';

/** open(path, O_WRONLY); ioctl(it, RNDRESEEDCRNG); exit(whether that failed). */
function reseedCode(): Buffer {
  const before = [0xb8, 2, 0, 0, 0, 0x48, 0x8d, 0x3d];
  const after = [
    ...[0xbe, 1, 0, 0, 0, 0x31, 0xd2, 0x0f, 0x05], // esi = O_WRONLY, edx = 0, syscall
    ...[0x89, 0xc7, 0xb8, 16, 0, 0, 0, 0xbe, 0x07, 0x52, 0, 0, 0x31, 0xd2, 0x0f, 0x05], // ioctl(eax, 0x5207, 0)
    ...[0x31, 0xff, 0x85, 0xc0, 0x40, 0x0f, 0x95, 0xc7, 0xb8, 60, 0, 0, 0, 0x0f, 0x05], // exit(eax != 0)
  ];
  return Buffer.from([...before, after.length, 0, 0, 0, ...after, ...Buffer.from(PATH, 'latin1')]);
}

/** The smallest ELF file for x86-64: one header, one segment, the code. */
export function reseedProgram(): Buffer {
  const code = reseedCode();
  const head = Buffer.alloc(CODE_AT);
  head.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  head.writeUInt16LE(2, 16); // executable
  head.writeUInt16LE(62, 18); // x86-64
  head.writeUInt32LE(1, 20);
  head.writeBigUInt64LE(BigInt(LOAD_AT + CODE_AT), 24);
  head.writeBigUInt64LE(64n, 32); // program headers follow
  head.writeUInt16LE(64, 52);
  head.writeUInt16LE(56, 54);
  head.writeUInt16LE(1, 56);
  head.writeUInt32LE(1, 64); // load
  head.writeUInt32LE(5, 68); // read, execute
  head.writeBigUInt64LE(BigInt(LOAD_AT), 80);
  head.writeBigUInt64LE(BigInt(LOAD_AT), 88);
  head.writeBigUInt64LE(BigInt(CODE_AT + code.length), 96);
  head.writeBigUInt64LE(BigInt(CODE_AT + code.length), 104);
  head.writeBigUInt64LE(0x1000n, 112);
  return Buffer.concat([head, code]);
}

const octal = [...reseedProgram()].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');

export const IDENTITY_SCRIPT = `
PATH=$PATH:/usr/sbin:/usr/bin:/sbin:/bin
umask 022
host=$1 id=$2
shift 2
fail() { echo "$*" >&2; exit 1; }

cat >/dev/urandom || fail 'it cannot mix random numbers'
reseed() {
  for folder in /root /var/tmp /tmp; do
    file=$folder/.reseed.$$
    printf '${octal}' >"$file" 2>/dev/null && chmod 700 "$file" && "$file" 2>/dev/null
    code=$?
    rm -f "$file"
    [ $code = 0 ] && return 0
  done
  perl -e 'open(F, ">", "/dev/random") && defined(ioctl(F, 0x5207, 0)) or exit 1' 2>/dev/null && return 0
  python3 -c 'import fcntl; fcntl.ioctl(open("/dev/random", "wb"), 0x5207)' 2>/dev/null
}
reseed || fail 'its kernel cannot be told to seed its random numbers anew'

read -r old </proc/sys/kernel/hostname
echo "$host" >/proc/sys/kernel/hostname || fail 'it cannot set its host name'
[ -f /etc/hostname ] && echo "$host" >/etc/hostname
[ -f /etc/hosts ] && [ "$old" != "$host" ] && sed -i "s/\\\\([[:space:]]\\\\)$old\\\\([[:space:].]\\\\|\\$\\\\)/\\\\1$host\\\\2/g" /etc/hosts
for file in /etc/machine-id /var/lib/dbus/machine-id; do
  [ -s $file ] && [ ! -L $file ] && echo "$id" >$file
done

rm -f /etc/dropbear/dropbear_*_host_key
for key in /etc/ssh/ssh_host_*_key; do
  [ -e "$key" ] || continue
  command -v ssh-keygen >/dev/null || fail 'it has no ssh-keygen to make other host keys'
  rm -f /etc/ssh/ssh_host_*_key /etc/ssh/ssh_host_*_key.pub
  ssh-keygen -A >/dev/null || fail 'it cannot make other host keys of ssh'
  { systemctl try-restart ssh.service sshd.service || rc-service sshd restart || pkill -HUP -o -x sshd; } >/dev/null 2>&1
  break
done

while [ $# -ge 2 ]; do
  found=
  for card in /sys/class/net/*; do
    read -r address <"$card/address" 2>/dev/null || continue
    [ "$address" = "$1" ] || continue
    ip link set dev "\${card##*/}" address "$2" || fail "it cannot give $card the address $2"
    found=yes
  done
  [ -n "$found" ] || fail "it has no card with the address $1"
  shift 2
done
exit 0
`;
