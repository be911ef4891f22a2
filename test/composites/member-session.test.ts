import { failureOf } from "#src/composites/member-failure.ts"
import { openSession } from "#src/composites/member-session.ts"
import { afterEach, expect, it, vi } from "vitest"

afterEach(() => {
  vi.restoreAllMocks()
})

it("a member that never answers the handshake is late, in words of ours", async () => {
  // In place of the seconds that a handshake has.
  vi.spyOn(AbortSignal, "timeout").mockReturnValue(AbortSignal.timeout(1))
  const address = { publicUrl: "http://member.example", transport: "streamable-http", revision: "2025-11-25" } as const
  const silent = () => new Promise<Response>(() => undefined)
  const error: unknown = await openSession(address, silent, () => undefined).catch((reason: unknown) => reason)
  expect(failureOf(error)).toEqual({
    code: "member_timeout",
    message: "no answer to the MCP handshake",
    isBroken: true
  })
})
