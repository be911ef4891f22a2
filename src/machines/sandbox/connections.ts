import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { rmSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { connect, createServer } from "node:net"
import { basename, join } from "node:path"
import { type MachinePaths } from "./paths.ts"

/** State of a connected socket in the kernel's list (include/uapi/linux/net.h, SS_CONNECTED). */
const connected = "03"

/**
 * The accepted ends of connections to a pathname socket: the kernel lists them with the path to which it was bound, in
 * the network namespace of the side that connected. That is ours: gateways run beside this process, and the machine
 * elsewhere. Keepers bind by the file's name alone, which is a digest of the machine's name.
 */
const countIn = (list: string, path: string) =>
  list.split("\n").filter((line) => {
    const [, , , , , state, , ...rest] = line.trimStart().split(/ +/)
    return state === connected && basename(rest.join(" ")) === basename(path)
  }).length

const readList = () => readFile("/proc/net/unix", "utf8")

/** Tries it with a socket of our own: some sandboxes around the platform show an empty or another list. */
const isTold = async ({ sockets }: MachinePaths) => {
  const path = join(sockets, `${randomBytes(8).toString("hex")}.c`)
  const server = createServer().listen(path)
  await once(server, "listening")
  const client = connect(path)
  try {
    await once(client, "connect")
    return countIn(await readList(), path) === 1
  } finally {
    client.destroy()
    server.close()
    rmSync(path, { force: true })
  }
}

/** Counts a machine's connections from the kernel's list: exact, whoever made them, and whichever gateways came and went. */
export const makeConnectionCount = Effect.fnUntraced(function*(paths: MachinePaths) {
  const isToldHere = yield* Effect.cached(
    Effect.tryPromise(() => isTold(paths)).pipe(Effect.orElseSucceed(() => false))
  )
  return Effect.fnUntraced(function*(path: string) {
    if (!(yield* isToldHere)) return undefined
    return yield* Effect.tryPromise(async () => countIn(await readList(), path)).pipe(
      Effect.orElseSucceed(() => undefined)
    )
  })
})
