import { chooseHost } from "#src/machines/sandbox/choose.ts"
import * as lifecycle from "#src/machines/sandbox/lifecycle.ts"
import { Effect } from "effect"
import { afterEach, expect, it } from "vitest"
import { temporaryDirectory } from "../support/Settings.ts"
import { about, run, specOf } from "./support.ts"
import { everyTier } from "./tiers.ts"

everyTier("a host without overlay file systems", (tier) => {
  const clean: Array<() => Promise<void>> = []
  afterEach(async () => {
    for (const each of clean.splice(0)) await each()
  })

  it("gives machines their image read-only, /tmp apart", async () => {
    const host = { ...await Effect.runPromise(chooseHost(temporaryDirectory("m"), tier)), overlay: false }
    clean.push(() => Effect.runPromise(lifecycle.destroy(host, "flat")))
    await Effect.runPromise(lifecycle.provision(host, specOf("flat")))
    const state = await Effect.runPromise(lifecycle.start(host, "flat"))
    expect((await about(state)).cwd).toBe("/app")
    const tried = await run(state, [
      "sh",
      "-c",
      "for p in / /app /etc /usr/bin; do echo x >$p/new && echo wrote $p; done; echo x >/tmp/x && cat /tmp/x"
    ])
    expect(tried.stdout).toBe("x\n")
    expect((await run(state, ["sh", "-c", "echo x >/etc/passwd"])).code).not.toBe(0)
    expect((await run(state, ["cat", "/etc/group"])).stdout).toContain("node:x:1001")
  })
})
