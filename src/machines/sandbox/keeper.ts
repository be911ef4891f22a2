import type { closeInherited } from "#src/shared/inherited-descriptors.ts"
import type * as ChildProcess from "node:child_process"
import type * as Fs from "node:fs"
import type * as Net from "node:net"
import type * as Os from "node:os"
import type * as Path from "node:path"
import type { Readable } from "node:stream"
import type { keeperEgress } from "./keeper-egress.ts"
import type { keeperOutput } from "./keeper-output.ts"
import type { KeeperPlan } from "./keeper-plan.ts"

/**
 * The process that supervises a machine: it starts it inside the namespaces it was itself started in, relays a Unix
 * socket to the machine's port, stores its output and records how it ended. It outlives the platform, and the
 * machine cannot outlive it, since it is PID 1 of the namespace around the machine.
 *
 * It runs as a program of its own, made from this function's text: it may use nothing from outside its own body.
 */
export function keeper(
  require: NodeJS.Require,
  closeDescriptors: typeof closeInherited,
  openEgress: typeof keeperEgress,
  openOutput: typeof keeperOutput
): void {
  const fs = require("node:fs") as typeof Fs
  const net = require("node:net") as typeof Net
  const os = require("node:os") as typeof Os
  const path = require("node:path") as typeof Path
  const childProcess = require("node:child_process") as typeof ChildProcess
  // Before anything is opened: the machine gets what the spawn below lists, and nothing else.
  closeDescriptors(fs, () => false)
  const plan = JSON.parse(fs.readFileSync(process.argv[2] ?? "", "utf8")) as KeeperPlan

  const LINE = 16 * 1024
  const BYTES_PER_SECOND = 4 * 1024 * 1024

  const output = openOutput(fs, plan.dir)
  const child = childProcess.spawn(plan.argv[0] ?? "", plan.argv.slice(1), {
    stdio: ["ignore", "pipe", "pipe", ...plan.inputs.map((path) => fs.openSync(path, "r"))],
    env: { PATH: plan.path }
  })

  let receivedBytes = 0
  const streams = [child.stdout, child.stderr]
  const capture = (stream: Readable | null, mark: string) => {
    let rest = Buffer.alloc(0)
    stream?.on("data", (chunk: Buffer) => {
      let bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      const lines: Array<Buffer> = []
      for (;;) {
        const end = bytes.indexOf(10)
        let cut = end === -1 ? bytes.length : end
        if (end === -1 && cut < LINE) break
        const fits = cut <= LINE
        if (!fits) {
          cut = LINE
          // Not within a UTF-8 sequence: its later bytes are 10xxxxxx.
          for (let i = 0; i < 3 && ((bytes[cut] ?? 0) & 0xc0) === 0x80; i++) cut--
        }
        lines.push(Buffer.from(mark), bytes.subarray(0, cut), Buffer.from("\n"))
        bytes = bytes.subarray(fits && end !== -1 ? cut + 1 : cut)
        if (bytes.length === 0) break
      }
      rest = Buffer.from(bytes)
      if (lines.length > 0) output.write(Buffer.concat(lines))
      receivedBytes += chunk.length
      if (receivedBytes > BYTES_PER_SECOND) { for (const each of streams) each?.pause() }
    })
    stream?.on(
      "end",
      () => rest.length > 0 && output.write(Buffer.concat([Buffer.from(mark), rest, Buffer.from("\n")]))
    )
    stream?.on("error", () => undefined)
  }
  capture(child.stdout as Readable | null, "1")
  capture(child.stderr as Readable | null, "2")
  const secondly = setInterval(() => {
    if (receivedBytes > BYTES_PER_SECOND) { for (const each of streams) each?.resume() }
    receivedBytes = 0
    output.tellLoss()
  }, 1000)

  let ended = false
  const end = (exitCode: number) => {
    if (ended) return
    ended = true
    clearInterval(secondly)
    const record = `${plan.dir}/exit.json`
    fs.writeFileSync(`${record}.new`, JSON.stringify({ run: plan.run, exitCode }), { mode: 0o600, flush: true })
    fs.renameSync(`${record}.new`, record)
    fs.rmSync(plan.socket, { force: true })
    process.exit(0)
  }
  child.on("error", (error) => {
    output.write(Buffer.from(`2${error.message}\n`))
    end(127)
  })
  // What the command leaves is not a machine, and holds its output open: bubblewrap that is killed while it prepares
  // leaves a child that waits for it without end, or runs on where no signal finds it. From PID 1, -1 is all but itself.
  child.on("exit", () => {
    try {
      if (process.pid === 1) process.kill(-1, "SIGKILL")
    } catch {
      // Nothing was left.
    }
  })
  child.on("close", (code, signal) => {
    const exitCode = code ?? 128 + (signal === null ? 0 : os.constants.signals[signal])
    end(terminated && exitCode === 137 ? 143 : exitCode)
  })

  // The kernel's list of children is optional; the namespace's own /proc is short enough to read through.
  const parentOf = (pid: string) => {
    try {
      const stat = fs.readFileSync(`/proc/${pid}/stat`, "latin1")
      return Number(stat.slice(stat.lastIndexOf(")") + 4).split(" ")[0])
    } catch {
      return -1
    }
  }
  const pids = () => fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name))
  const mainProcess = () => {
    let pid = child.pid ?? -1
    for (let depth = 0; depth < plan.depth; depth++) {
      const below = pids().find((candidate) => parentOf(candidate) === pid)
      if (below === undefined) return undefined
      pid = Number(below)
    }
    return pid
  }
  // SIGTERM at its default ends any process but an init: there we do what the default means. Checked repeatedly, since
  // Node catches the signal once to reset its terminal and only then restores the default.
  let terminated = false
  const ignoresTerm = (pid: number) => {
    const status = fs.readFileSync(`/proc/${pid}/status`, "latin1")
    const handled = ["SigCgt", "SigIgn"].map((set) => BigInt(`0x${new RegExp(`${set}:\\s*(\\w+)`).exec(status)?.[1]}`))
    return plan.isInit && handled.every((signals) => ((signals >> 14n) & 1n) === 0n)
  }
  const nameOf = (pid: number) => {
    try {
      return fs.readFileSync(`/proc/${pid}/comm`, "latin1")
    } catch {
      return ""
    }
  }
  const terminate = () => {
    const pid = mainProcess()
    if (pid === undefined) {
      terminated = true
      return void child.kill("SIGKILL")
    }
    const name = nameOf(pid)
    const killIfIgnored = () => {
      try {
        // runc's last step catches signals, and may drop one when it becomes the machine's program.
        if (name.startsWith("runc") && nameOf(pid) !== name) return terminate()
        if (!ignoresTerm(pid)) return void setTimeout(killIfIgnored, 20)
        terminated = true
        process.kill(pid, "SIGKILL")
      } catch {
        // It ended.
      }
      terminateNext(pid)
    }
    try {
      process.kill(pid, "SIGTERM")
    } catch {
      return terminateNext(pid)
    }
    killIfIgnored()
  }
  // With it the machine ends, unless it was a step of preparing it (runc has several), whose next one has had no signal.
  const terminateNext = (ended: number) => {
    const next = mainProcess()
    if (next === undefined || next === ended) setTimeout(terminateNext, 20, ended)
    else terminate()
  }
  process.on("SIGTERM", terminate)
  for (const ignored of ["SIGINT", "SIGHUP", "SIGPIPE"] as const) process.on(ignored, () => undefined)

  if (plan.memoryBytes > 0) {
    setInterval(() => {
      let resident = 0
      for (const pid of pids()) {
        if (pid === "1") continue
        try {
          const status = fs.readFileSync(`/proc/${pid}/status`, "latin1")
          for (const [, kib] of status.matchAll(/^Rss(?:Anon|Shmem):\s+(\d+)/gm)) resident += Number(kib) * 1024
        } catch {
          // It ended meanwhile.
        }
      }
      const main = resident > plan.memoryBytes ? mainProcess() : undefined
      if (main !== undefined) process.kill(main, "SIGKILL")
    }, 500).unref()
  }

  // Relay. A half-closed connection stays open the other way; pipe() holds back a faster side.
  type Socket = Net.Socket
  const done = (socket: Socket) => socket.readableEnded && socket.writableFinished
  const connect = (client: Socket, to: Net.NetConnectOpts, fallback?: Net.NetConnectOpts) => {
    const server = net.connect({ ...to, allowHalfOpen: true })
    const onError = () => fallback === undefined ? client.destroy() : connect(client, fallback)
    server.once("error", onError)
    server.once("connect", () => {
      server.off("error", onError)
      server.on("error", () => client.destroy())
      client.pipe(server)
      server.pipe(client)
      client.on("close", () => done(client) || server.destroy())
      server.on("close", () => done(server) || client.destroy())
    })
  }
  process.umask(0o077)
  const relay = net.createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
    client.on("error", () => client.destroy())
    connect(client, { host: "127.0.0.1", port: plan.port }, { host: "::1", port: plan.port })
  })
  relay.maxConnections = 2048
  const { auth } = plan
  for (const host of auth === null ? [] : ["127.0.0.1", "::1"]) {
    const outward = net.createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
      client.on("error", () => client.destroy())
      connect(client, { path: auth!.socket })
    })
    outward.maxConnections = 64
    // A port on which the machine already listens stays the machine's.
    outward.on("error", () => undefined)
    outward.listen(auth!.port, host)
  }
  if (plan.egress !== null) openEgress(require, plan.egress)
  relay.on("error", (error) => {
    console.error(String(error))
    process.exit(1)
  })
  // The machine's /proc/net/unix shows the path that was bound: by its name alone it tells nothing of the host.
  process.chdir(path.dirname(plan.socket))
  relay.listen(path.basename(plan.socket), () => {
    fs.writeSync(1, "ready\n")
    // Descriptor 1 must stay in use: libuv never closes a socket whose descriptor is below 3.
    fs.closeSync(1)
    fs.openSync("/dev/null", "w")
  })
}
