#!/bin/sh
# Makes ./configure from configure.ac in a fresh checkout.
cd "$(dirname "$0")" && mkdir -p m4 build-aux && exec autoreconf --install --force
