import { type MachineAddress, MachineError, Machines } from "#src/machines/Machines.ts"
import { Effect, Layer } from "effect"
import { createServer, type RequestListener, type Server } from "node:http"
import { type AddressInfo } from "node:net"
import { setTimeout } from "node:timers/promises"
import { withoutMachines } from "./no-machines.ts"

/** What a machine does once it is started, by the time it was started. */
export interface Conduct {
  /** Milliseconds until it listens. */
  readonly delay: number
  /** It listens no sooner. */
  readonly until?: Promise<void>
  /** It ends with this code in place of listening. */
  readonly exits?: number
  readonly listener: RequestListener
}

export const healthy: RequestListener = (req, res) => {
  req.resume()
  req.on("end", () => res.writeHead(200, { "content-type": "application/json" }).end("{\"ok\":true}"))
}

interface Machine {
  readonly owner: string
  status: "running" | "exited"
  exitCode: number | null
  address: MachineAddress
  server: Server | undefined
}

/** Machines that are servers of this process: they start and end as a driver's do, and are told what to do. */
export class StartableMachines {
  readonly #machines = new Map<string, Machine>()
  /** Names of machines, one for each time that one was really started or stopped. */
  readonly starts: Array<string> = []
  readonly stops: Array<string> = []
  conduct: Conduct = { delay: 0, listener: healthy }

  statusOf = (name: string) => this.#machines.get(name)?.status

  /** Adds one that runs. */
  readonly add = async (name: string, owner: string) => {
    this.#machines.set(name, {
      owner,
      status: "exited",
      exitCode: 0,
      address: { _tag: "Tcp", host: "127.0.0.1", port: 1 },
      server: undefined
    })
    await this.#start(name)
    this.starts.length = 0
  }

  readonly #start = async (name: string) => {
    const machine = this.#machines.get(name)
    if (machine === undefined) throw new Error(`${name} was never provisioned`)
    if (machine.status === "running") return
    this.starts.push(name)
    const { delay, exits, listener, until } = this.conduct
    const server = createServer(listener)
    machine.status = "running"
    machine.server = server
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const { port } = server.address() as AddressInfo
    if (delay === 0 && until === undefined && exits === undefined) {
      return void (machine.address = { _tag: "Tcp", host: "127.0.0.1", port })
    }
    // Nobody listens on port 1.
    machine.address = { _tag: "Tcp", host: "127.0.0.1", port: 1 }
    void Promise.all([setTimeout(delay), until]).then(() => {
      if (machine.server !== server) return
      if (exits === undefined) machine.address = { _tag: "Tcp", host: "127.0.0.1", port }
      else this.end(name, exits)
    })
  }

  /** The machine ends by itself, or is stopped. */
  readonly end = (name: string, exitCode: number) => {
    const machine = this.#machines.get(name)
    if (machine?.status !== "running") return
    machine.server?.close()
    machine.server?.closeAllConnections()
    machine.server = undefined
    machine.status = "exited"
    machine.exitCode = exitCode
  }

  /** The machine runs on, and takes no connection any more. */
  readonly refuse = (name: string) => {
    const machine = this.#machines.get(name)
    machine?.server?.close()
    machine?.server?.closeAllConnections()
  }

  readonly clear = () => {
    for (const name of this.#machines.keys()) this.end(name, 0)
  }

  readonly #stateOf = (name: string) => {
    const machine = this.#machines.get(name)
    if (machine === undefined) return undefined
    const { address, exitCode, owner, status } = machine
    return { name, owner, status, address, exitCode }
  }

  readonly layer = Layer.succeed(Machines, {
    ...withoutMachines("a test adds its machines itself"),
    start: (name) =>
      Effect.tryPromise({
        try: () => this.#start(name),
        catch: (error) => new MachineError({ operation: "start", machine: name, message: String(error) })
      }).pipe(Effect.map(() => this.#stateOf(name)!)),
    stop: (name) =>
      Effect.sync(() => {
        if (this.statusOf(name) === "running") this.stops.push(name)
        this.end(name, 0)
      }),
    destroy: (name) => Effect.sync(() => (this.end(name, 0), void this.#machines.delete(name))),
    inspect: (name) => Effect.sync(() => this.#stateOf(name)),
    list: (owner) =>
      Effect.sync(() =>
        [...this.#machines.keys()].map((name) => this.#stateOf(name)!).filter((one) =>
          one.owner === (owner ?? one.owner)
        )
      )
  })
}
