import { RequestMetering } from "#src/usage/RequestMetering.ts"
import { Effect } from "effect"
import { type Socket } from "node:net"
import { OutsideNetwork } from "./outside.ts"
import { Policies } from "./Policies.ts"
import { allows, type Policy } from "./policy.ts"

/** For all machines together; each has fewer (Egress.ts). */
const mostConnections = 4_000
const connectMillis = 10_000
const idleMillis = 15 * 60_000
const tick = "10 seconds"

interface Connection {
  readonly machine: string
  readonly policy: Policy
  readonly host: string
  readonly port: number
  readonly inside: Socket
  readonly outward: Socket
  counted: number
}

const endedWell = (socket: Socket) => socket.readableEnded && socket.writableFinished

export interface Destination {
  readonly host: string
  readonly port: number
  readonly addresses: ReadonlyArray<string>
}

/**
 * The connections that are open between machines and the outside. Their bytes count as the account's bandwidth, as they
 * pass; one whose host is no longer allowed is closed within ten seconds.
 */
export class Traffic extends Effect.Service<Traffic>()("egress/Traffic", {
  scoped: Effect.gen(function*() {
    const metering = yield* RequestMetering
    const policies = yield* Policies
    const outside = yield* OutsideNetwork
    const open = new Set<Connection>()

    const count = (connection: Connection) => {
      const { outward, policy } = connection
      const bytes = outward.bytesRead + outward.bytesWritten
      if (bytes > connection.counted) metering.addBytes(policy.accountId, bytes - connection.counted)
      connection.counted = bytes
    }
    const close = ({ inside, outward }: Connection) => {
      inside.destroy()
      outward.destroy()
    }

    yield* Effect.forkScoped(Effect.forever(Effect.delay(
      Effect.promise(async () => {
        for (const connection of [...open]) {
          count(connection)
          const policy = await policies.of(connection.machine)
          if (policy !== undefined && !allows(policy, connection.host, connection.port)) close(connection)
        }
      }),
      tick
    )))
    yield* Effect.addFinalizer(() => Effect.sync(() => open.forEach(close)))

    return {
      /**
       * Connects a machine's socket with a destination, whose addresses were checked. `first` is sent there before all
       * else, `answer` to the machine.
       * Undefined once both sides are connected, else why they could not be (completes "failed: …").
       */
      carry: (
        machine: string,
        policy: Policy,
        inside: Socket,
        { addresses, host, port }: Destination,
        { answer, first }: { readonly first: Buffer; readonly answer?: string }
      ) =>
        new Promise<string | undefined>((resolve) => {
          if (open.size >= mostConnections) return resolve("too many connections are open on this host")
          if (inside.destroyed) return resolve(undefined)
          const outward = outside.connect(addresses, port)
          const connection: Connection = { machine, policy, host, port, inside, outward, counted: 0 }
          open.add(connection)
          const refuse = (why: string) => {
            outward.destroy()
            resolve(why)
          }
          outward.setTimeout(connectMillis, () => refuse("it does not answer"))
          outward.on("error", (error: NodeJS.ErrnoException) => refuse(error.code ?? "the connection broke"))
          outward.once("connect", () => {
            resolve(undefined)
            outward.setTimeout(idleMillis, () => close(connection))
            inside.setTimeout(idleMillis, () => close(connection))
            outward.setKeepAlive(true, 60_000)
            if (answer !== undefined) inside.write(answer)
            if (first.length > 0) outward.write(first)
            inside.pipe(outward)
            outward.pipe(inside)
          })
          outward.on("close", () => {
            count(connection)
            open.delete(connection)
            // Closed in good order: what is still on its way to the machine gets there.
            if (!endedWell(outward)) inside.destroy()
          })
          inside.on("close", () => endedWell(inside) || outward.destroy())
        })
    } as const
  })
}) {}
