import { Effect } from "effect"
import { Redis } from "ioredis"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:net"

export const freePort = Effect.promise(async () => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  server.close()
  return typeof address === "object" && address !== null ? address.port : 0
})

/** A real redis-server; it ends with the scope. */
export const redisServer = (port: number) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const child = spawn("redis-server", [
        "--port",
        `${port}`,
        "--bind",
        "127.0.0.1",
        "--save",
        "",
        "--appendonly",
        "no"
      ])
      for await (const chunk of child.stdout) if (String(chunk).includes("Ready to accept connections")) break
      child.stdout.resume()
      return child
    }),
    (child) =>
      Effect.promise(async () => {
        child.kill("SIGKILL")
        if (child.exitCode === null && child.signalCode === null) await once(child, "exit")
      })
  )

/** Sends one command. */
export const redisCommand = (port: number, [name, ...args]: readonly [string, ...ReadonlyArray<string>]) =>
  Effect.promise(async () => {
    const redis = new Redis(port, "127.0.0.1")
    await redis.call(name, ...args)
    redis.disconnect()
  })
