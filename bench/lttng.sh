#!/bin/sh
# Runs a program with every call, or allocation, recorded by LTTng, into the working
# directory: lttng.sh calls|heap PROGRAM [ARGUMENTS] LTTng's daemon is started for it,
# unless one is running, and ended with it. Its default is to drop what is too fast.
set -eu

case $1 in
calls) library=liblttng-ust-cyg-profile-fast.so.1 events='lttng_ust_cyg_profile*' ;;
heap) library=liblttng-ust-libc-wrapper.so.1 events='lttng_ust_libc:*' ;;
esac
shift

lttng-sessiond --no-kernel >/dev/null 2>&1 &
daemon=$!
trap 'lttng --no-sessiond -q destroy >/dev/null 2>&1 || true; kill $daemon 2>/dev/null || true; wait $daemon || true' EXIT
for try in $(seq 100); do
	lttng --no-sessiond list >/dev/null 2>&1 && break
	sleep 0.1
done
{
	lttng --no-sessiond -q create fxt-bench --output="$PWD/lttng"
	lttng --no-sessiond -q enable-event --userspace "$events"
	lttng --no-sessiond -q start
} >&2
LD_PRELOAD=$library "$@"
