/**
 * The two shell programs around a machine's keeper. They are constants: everything that comes from outside arrives
 * in `$1`, `$2`, …, and is never read as shell text.
 */

/** Waits until its process id is on disk. If the platform dies before that, the pipe closes and nothing starts. */
export const waitForGo = `read -r go || exit 1
exec "$@" </dev/null`

/**
 * Runs as PID 1 of the keeper's namespaces: loopback up, the machine's root assembled, then the keeper.
 * The mounts exist in this namespace only and end with it.
 *
 * $1 machine directory, $2 unpacked image, $3 bytes of the machine's own layer, $4 how that layer is made
 * (overlay options, or "none"), $5 owner of the directories that follow, $6 working directory and $7 home (relative,
 * or empty), $8 the authorization server's name, which means loopback here (or empty), $9 the image's /etc (relative; it
 * may be a link; empty where that leads nowhere), $10… the keeper, which answers DNS.
 */
export const prepareRoot = `set -e
cd "$1"; image=$2 size=$3 layer=$4 owner=$5 workdir=$6 home=$7 auth=$8 etc=$9; shift 9
umask 022
mount -t proc proc /proc
# In a new network namespace loopback is down. Root can raise it through sysfs, other users with iproute2.
up() { mount -t sysfs sysfs mnt && echo 0x1 >mnt/class/net/lo/flags; }
up 2>/dev/null || ip link set lo up || ifconfig lo up || { echo "loopback cannot be brought up: install iproute2" >&2; exit 1; }
umount mnt 2>/dev/null || :
mount --bind "$image" lower
if [ "$layer" != none ]; then
  mount -t tmpfs -o "size=$size,mode=755,nosuid,nodev" cow cow
  mkdir cow/up cow/work
  # Relative paths: a comma or a colon in a path would end the option.
  mount -t overlay -o "nosuid,nodev,lowerdir=lower,upperdir=cow/up,workdir=cow/work$layer" root root
else
  mount -t tmpfs -o size=1m,mode=755,nosuid,nodev root root
  for entry in lower/* lower/.[!.]*; do
    name=\${entry#lower/}
    case $name in proc|dev|tmp|etc|.berth|.berth-files|.berth-etc) continue ;; esac
    if [ -L "$entry" ]; then ln -s "$(readlink "$entry")" "root/$name"; continue
    elif [ -d "$entry" ]; then mkdir "root/$name"
    elif [ -f "$entry" ]; then : >"root/$name"
    else continue; fi
    mount --bind "$entry" "root/$name"
    mount -o remount,bind,ro,nosuid,nodev "root/$name"
  done
  # Links to the image's files, beside two of ours.
  mkdir root/etc root/.berth-etc
  if [ -n "$etc" ] && [ -d "lower/$etc" ]; then
    mount --bind "lower/$etc" root/.berth-etc
    mount -o remount,bind,ro,nosuid,nodev root/.berth-etc
    (
      set --
      for entry in root/.berth-etc/* root/.berth-etc/.[!.]*; do
        name=\${entry##*/}
        case $name in hosts|resolv.conf) continue ;; esac
        [ ! -e "$entry" ] && [ ! -L "$entry" ] || set -- "$@" "/.berth-etc/$name"
      done
      [ $# = 0 ] || ln -s -- "$@" root/etc/
    )
    [ -L root/.berth-etc/hosts ] || [ ! -f root/.berth-etc/hosts ] || cat root/.berth-etc/hosts 2>/dev/null >root/etc/hosts || :
    etc=etc
  fi
fi
cd root
for name in proc dev tmp .berth; do
  # A mount would follow a link here out of the machine.
  if [ -L $name ]; then rm $name; fi
  [ -d $name ] || mkdir $name
done
chmod 1777 tmp
if [ -n "$(ls -A ../files 2>/dev/null)" ]; then
  if [ -L .berth-files ]; then rm .berth-files; fi
  [ -d .berth-files ] || mkdir .berth-files
  mount --bind ../files .berth-files
  mount -o remount,bind,ro,nosuid,nodev,noexec .berth-files
fi
if [ -z "$etc" ]; then
  rm -f etc 2>/dev/null || :
  etc=etc
fi
if mkdir -p "$etc" 2>/dev/null; then
  # Many images have a link here that leads nowhere. Without the file, resolvers ask 127.0.0.1 too, as a rule.
  rm -f "$etc/resolv.conf" 2>/dev/null || :
  [ -e "$etc/resolv.conf" ] || printf 'nameserver 127.0.0.1\\n' 2>/dev/null >"$etc/resolv.conf" || :
  # Without /etc/hosts "localhost" does not resolve.
  if [ ! -L "$etc/hosts" ]; then
    [ -s "$etc/hosts" ] || printf '127.0.0.1 localhost\\n::1 localhost\\n' 2>/dev/null >"$etc/hosts" || :
    [ -z "$auth" ] || [ ! -f "$etc/hosts" ] || printf '\\n127.0.0.1 %s\\n' "$auth" 2>/dev/null >>"$etc/hosts" || :
  fi
fi
for dir in "$workdir" "$home"; do
  [ -z "$dir" ] || { mkdir -p "./$dir" && chown "$owner" "./$dir"; } 2>/dev/null || :
done
cd ..
[ "$layer" != none ] || mount -o remount,bind,ro,nosuid,nodev root
exec "$@"`

/** Joins the cgroups whose files come before "--", then runs the rest. */
export const joinCgroups = `while [ "$1" != -- ]; do echo 0 >"$1" || exit 125; shift; done
shift
exec "$@"`
