import { fetchThrough } from "#src/machines/machine-fetch.ts"
import { once } from "node:events"
import { createServer } from "node:http"
import { type AddressInfo } from "node:net"
import { setImmediate } from "node:timers/promises"
import { expect, it } from "vitest"

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
