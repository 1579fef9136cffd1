"""A picture as PNG, without a library."""

import struct
import zlib


def write(path, width, height, pixels):
    """Pixels are [red, green, blue], row by row."""
    rows = b"".join(b"\0" + b"".join(bytes(p) for p in pixels[y * width : (y + 1) * width]) for y in range(height))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    with open(path, "wb") as out:
        out.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
