# Sourced by Mount/up and Tests/run: finding and installing what this machine lacks, in plain words.

# The command that makes one root: nothing, sudo, or failure.
as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo > /dev/null; then
        sudo -- "$@"
    else
        return 1
    fi
}

# Installs those of the packages that are missing. Debian and its children only.
install_packages() {
    local package missing=()
    if ! command -v dpkg-query > /dev/null; then
        echo "note: not a Debian system; packages of these names or the like are needed: $*" >&2
        return 1
    fi
    for package in "$@"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null)" = installed ] || missing+=("$package")
    done
    [ ${#missing[@]} = 0 ] && return 0
    if [ "$(id -u)" != 0 ] && ! command -v sudo > /dev/null; then
        echo "note: packages are missing, and only root may install them: apt-get install ${missing[*]}" >&2
        return 1
    fi
    echo "installing: ${missing[*]}"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq update > /dev/null &&
        as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "${missing[@]}" > /dev/null
}

# Whether a Swift that can build the package is there.
need_swift() {
    command -v swift > /dev/null && swift --version 2> /dev/null | grep -qE 'Swift version (6\.[2-9]|6\.[1-9][0-9]|[7-9]|[1-9][0-9])'
}

# Whether FUSE can be used; makes a try at loading its module.
need_fuse() {
    [ -e /dev/fuse ] || as_root modprobe fuse 2> /dev/null
    [ -r /dev/fuse ] && [ -w /dev/fuse ]
}

# Lets ordinary users mount, as Debian's udev rules do: some machines come without udev.
open_fuse() {
    [ "$(stat -c %a /dev/fuse)" = 666 ] || as_root chmod 666 /dev/fuse
}
