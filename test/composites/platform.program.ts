/**
 * A platform to be killed, whose members' servers run elsewhere: `platform.program.ts HOME PORT DATABASE_URL`. Whoever
 * forked it tells it where they are, as entries of deployments and addresses; it says when it is there.
 */
import { type MachineAddress } from "#src/machines/Machines.ts"
import { platformOn } from "#src/Platform.ts"
import { Effect, Layer } from "effect"
import { fakeMachines } from "../support/fake-machines.ts"
import { settingsTest } from "../support/Settings.ts"

const [home = "", port = "", databaseUrl = ""] = process.argv.slice(2)

const addresses = new Map<string, MachineAddress>()
process.on("message", (entries: ReadonlyArray<readonly [string, MachineAddress]>) => {
  for (const [deployment, address] of entries) addresses.set(deployment, address)
})
const settings = settingsTest({
  BERTH_HOME: home,
  PORT: port,
  BASE_URL: `http://127.0.0.1:${port}`,
  COMPUTE_DRIVER: "sandbox",
  DATABASE_URL: databaseUrl,
  SECRET_KEY: Buffer.alloc(32, 7).toString("base64"),
  TRUST_PROXY: "1",
  LOG_LEVEL: "ERROR"
})
const running = Layer.launch(Layer.provide(platformOn(fakeMachines(addresses)), settings))
process.on("disconnect", () => process.exit())
void Effect.runPromise(running).catch((error: unknown) => {
  console.error(error)
  process.exit(1)
})
