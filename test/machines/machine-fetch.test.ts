import { probe } from "#src/deployments/probe.ts"
import { fetchThrough, machineFetch } from "#src/machines/machine-fetch.ts"
import { withoutPlace } from "#src/machines/socket-failure.ts"
import { Effect } from "effect"
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { type AddressInfo } from "node:net"
import { join } from "node:path"
import { setImmediate } from "node:timers/promises"
import { expect, it } from "vitest"
import { temporaryDirectory } from "../support/Settings.ts"

it("many requests with one signal at once are no leak that Node warns of", async () => {
  const warnings: Array<string> = []
  const onWarning = ({ name }: Error) => warnings.push(name)
  process.on("warning", onWarning)
  let reached = 0
  const silent = createServer(() => reached++).listen(0, "127.0.0.1")
  await once(silent, "listening")
  const { port } = silent.address() as AddressInfo
  const asked = fetchThrough(() => ({ host: "127.0.0.1", port }), { host: "member.example" }, 1_000)
  const session = new AbortController()
  const requests = Array.from(
    { length: 20 },
    () => asked("http://member.example/mcp", { signal: session.signal }).then(() => "answered", () => "ended")
  )
  await expect.poll(() => reached).toBe(20)
  session.abort()
  expect(new Set(await Promise.all(requests))).toEqual(new Set(["ended"]))
  await setImmediate()
  process.off("warning", onWarning)
  silent.closeAllConnections()
  silent.close()
  expect(warnings).toEqual([])
})

it("a machine that is gone no longer listens: nobody is told where its socket is", async () => {
  const path = join(temporaryDirectory("sockets"), "gone.s")
  for (const isThere of [false, true]) {
    // A file on which nothing listens.
    if (isThere) writeFileSync(path, "")
    const address = { _tag: "Unix", path } as const
    const asked = machineFetch(address, {}, 1_000)("http://member.example/mcp")
    await expect(asked).rejects.toThrow(/^the machine no longer listens$/)
    expect(await Effect.runPromise(probe(address, 8080, "/healthz", 1_000))).toEqual({
      _tag: "NotListening",
      why: "connection refused"
    })
  }
})

it("any other failure of a socket keeps its code, and what names no place its words", () => {
  const at = (code: string, syscall: string) =>
    Object.assign(new Error(`${syscall} ${code} /home/m/1.s`), { code, syscall, address: "/home/m/1.s" })
  expect(withoutPlace(at("EAGAIN", "connect"))).toMatchObject({
    code: "EAGAIN",
    message: "the socket fails with EAGAIN"
  })
  expect(withoutPlace(at("EADDRINUSE", "listen")).message).toBe("the socket fails with EADDRINUSE")
  const hungUp = Object.assign(new Error("socket hang up"), { code: "ECONNRESET" })
  expect(withoutPlace(hungUp)).toBe(hungUp)
})
