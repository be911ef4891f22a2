import { afterAll, describe, expect, it } from "vitest"
import { sleeper } from "../deployments/support/sleeper.ts"
import { useBerth } from "../support/Berth.ts"
import { healthy, StartableMachines } from "../support/startable-machines.ts"

describe("an answer that can't be passed on", () => {
  const machines = new StartableMachines()
  const berth = useBerth({ machines: machines.layer })
  afterAll(machines.clear)

  it("is told to the server's owner with its reason, once in ten minutes", async () => {
    let raw = ""
    machines.conduct = {
      delay: 0,
      listener: (req, res) => {
        if (req.url !== "/broken") return healthy(req, res)
        req.socket.end(`HTTP/1.1 200 OK\r\n${raw}\r\n\r\n`)
      }
    }
    const one = await sleeper(berth, machines, { autoStopSeconds: null })
    const about = async (words: string) => (await one.messages()).split(words).length - 1
    const broken = async (header: string, words: string) => {
      raw = header
      const { body, status } = await one.ask("/broken")
      expect(status).toBe(502)
      expect(body).toMatchObject({ error: { message: expect.stringContaining(words) as unknown } })
    }

    const large = "headers of the server's answer are larger than 16 KiB"
    const invalid = "answer is not valid HTTP"
    await broken(`X: ${"x".repeat(60_000)}`, large)
    await broken(`X: ${"x".repeat(60_000)}`, large)
    await broken("Content-Length: 5\r\nTransfer-Encoding: chunked", invalid)
    await expect.poll(() => about(invalid)).toBe(1)
    expect(await about(large)).toBe(1)
    expect(await one.messages()).toMatch(/not valid HTTP; callers get 502 \(Response /)
    berth.advance(10 * 60_000 + 1_000)
    await broken(`X: ${"x".repeat(60_000)}`, large)
    await expect.poll(() => about(large)).toBe(2)
  })
})
