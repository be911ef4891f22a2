import { abortable } from "#src/images/abortable.ts"
import { type ImageError, imageError, storageError } from "#src/images/ImageError.ts"
import { type MachineAddress } from "#src/machines/Machines.ts"
import { type ByteReader, byteReader } from "#src/shared/byte-reader.ts"
import { type Effect, Either, Schema } from "effect"
import { mkdir, open } from "node:fs/promises"
import { connect, type Socket } from "node:net"
import { join } from "node:path"
import { mostBytes, mostFiles } from "./run-installer.ts"

/** Of an entry that follows: a file with its bytes, a folder (no size), or the end. Its length in 4 bytes is before it. */
const Header = Schema.parseJson(Schema.Struct({
  path: Schema.optional(Schema.String),
  size: Schema.optional(Schema.NonNegativeInt),
  mode: Schema.optional(Schema.Int),
  end: Schema.optional(Schema.Literal(true))
}))
const decode = Schema.decodeUnknownEither(Header)

const longestHeader = 64 * 1024

const nothing = Buffer.alloc(0)

const foreign = () => imageError("invalid_image", "the install scripts left something that is not a list of files")

/** Below `node_modules`, and never up again: a machine says these paths. */
export const isInside = (path: string) => {
  const [top, ...parts] = path.split("/")
  return top === "node_modules" && !path.includes("\0") &&
    parts.every((part) => part !== "" && part !== "." && part !== "..")
}

const writeFile = async (to: string, size: number, mode: number, { some }: ByteReader) => {
  // Never through or over something that is there.
  const file = await open(to, "wx", (mode & 0o111) === 0 ? 0o644 : 0o755)
  try {
    for (let left = size; left > 0;) {
      const part = await some(left)
      if (part.length === 0) throw foreign()
      await file.writeFile(part)
      left -= part.length
    }
  } finally {
    await file.close()
  }
}

const receive = async (socket: Socket, folder: string): Promise<boolean> => {
  const input = byteReader(socket)
  let bytes = 0
  for (let entries = 0; entries < mostFiles; entries++) {
    // Until the machine's port is open, and when it has just ended, there is nobody.
    const length = await (entries === 0 ? input.exactly(4).catch(() => nothing) : input.exactly(4))
    if (entries === 0 && length.length === 0) return false
    if (length.length < 4 || length.readUInt32BE() > longestHeader) throw foreign()
    const header = decode((await input.exactly(length.readUInt32BE())).toString())
    if (Either.isLeft(header)) throw foreign()
    const { end, mode = 0o644, path = "", size } = header.right
    if (end === true) return true
    if (!isInside(path)) throw foreign()
    if (size === undefined) {
      await mkdir(join(folder, path), { mode: 0o755 })
      continue
    }
    bytes += size
    if (bytes > mostBytes) break
    await writeFile(join(folder, path), size, mode, input)
  }
  throw imageError(
    "too_large",
    `the install scripts left more than ${mostBytes / 1024 ** 3} GiB, or ${mostFiles.toLocaleString("en")} files`
  )
}

/**
 * Takes the files that the machine of a package's install scripts hands out into `folder`, which has no `node_modules`
 * yet; false while the scripts run.
 */
export const takeFiles = (address: MachineAddress, folder: string): Effect.Effect<boolean, ImageError> =>
  abortable(async (signal) => {
    const socket = address._tag === "Unix" ? connect(address.path) : connect(address.port, address.host)
    const stop = () => socket.destroy()
    signal.addEventListener("abort", stop)
    try {
      return await receive(socket, folder)
    } finally {
      signal.removeEventListener("abort", stop)
      socket.destroy()
    }
  }, storageError("Taking what the install scripts wrote"))
