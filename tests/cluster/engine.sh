# Sourced by compose.sh: a Docker engine to test with, and a Debian base image for it.
# The engine that runs already is used as it is; else one is started here, and engine_stop ends it.

base_image=debian:12-slim
engine_dir=
image_cache=tests/cluster/.image

# Debian's client carries BuildKit; a newer one elsewhere on the PATH may lack its plugin.
PATH=/usr/bin:$PATH
export DOCKER_BUILDKIT=1

engine_start() {
  docker info >/dev/null 2>&1 && ensure_compose && return 0
  bash deploy/packages.sh deploy/packages-cluster.txt
  hash -r  # the shell remembers a client that was found before Debian's was there
  engine_dir=$(mktemp -d "${TMPDIR:-/tmp}/weir-docker.XXXXXX")
  export DOCKER_HOST=unix://$engine_dir/docker.sock
  engine_had_bridge=$(ip link show docker0 2>/dev/null || true)
  # The second try is for file systems that carry no overlay, such as a container's own.
  local driver
  for driver in overlay2 vfs; do
    dockerd --host "$DOCKER_HOST" --pidfile "$engine_dir/docker.pid" --storage-driver "$driver" \
      --data-root "$engine_dir/data" --exec-root "$engine_dir/exec" \
      >"$engine_dir/log" 2>&1 </dev/null &
    engine_pid=$!
    await engine_is_decided && docker info >/dev/null 2>&1 && return 0
    kill "$engine_pid" 2>/dev/null || true
    wait "$engine_pid" 2>/dev/null || true
    tail -n 5 "$engine_dir/log" >&2
  done
  echo "error: no Docker engine runs and none could be started" >&2
  return 1
}

# It answers, or has ended.
engine_is_decided() { docker info || ! kill -0 "$engine_pid"; }

# An engine that was found may come with the compose plugin; Debian has the stand-alone program.
ensure_compose() {
  docker compose version >/dev/null 2>&1 || command -v docker-compose >/dev/null ||
    bash deploy/packages.sh <(echo docker-compose)
}

compose() {
  if docker compose version >/dev/null 2>&1; then
    docker compose "$@"
  else
    docker-compose "$@"
  fi
}

engine_stop() {
  [ -n "$engine_dir" ] || return 0
  local pid
  pid=$(cat "$engine_dir/docker.pid" 2>/dev/null || true)
  if [ -n "$pid" ]; then
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  fi
  [ -n "$engine_had_bridge" ] || ip link delete docker0 2>/dev/null || true
  # What an engine that died in mid work leaves mounted.
  awk -v dir="$engine_dir/" 'index($5, dir) == 1 { print $5 }' /proc/self/mountinfo | sort -r |
    xargs -r umount -l
  rm -rf "$engine_dir"
}

# Sets base_image to one that this engine has: the published one, or else one made from packages.
ensure_base_image() {
  docker image inspect "$base_image" >/dev/null 2>&1 && return 0
  timeout 300 docker pull -q "$base_image" 2>/dev/null && return 0
  base_image=weir-base:debian12
  docker image inspect "$base_image" >/dev/null 2>&1 && return 0
  [ -s "$image_cache/base.tar" ] || make_base_archive
  docker import "$image_cache/base.tar" "$base_image" >/dev/null
}

make_base_archive() {
  bash deploy/packages.sh deploy/packages-cluster.txt
  local root
  root=$(mktemp -d "${TMPDIR:-/tmp}/weir-base.XXXXXX")
  mkdir -p "$image_cache"
  echo "making a Debian 12 base image"
  debootstrap --variant=minbase bookworm "$root" >"$image_cache/debootstrap.log" 2>&1 || {
    tail -n 5 "$image_cache/debootstrap.log" >&2
    rm -rf "$root"
    return 1
  }
  tar -C "$root" --exclude='./var/cache/apt/*' --exclude='./var/lib/apt/lists/*' \
    --exclude='./dev/*' -cf "$image_cache/base.tar.part" .
  mv "$image_cache/base.tar.part" "$image_cache/base.tar"
  rm -rf "$root"
}
