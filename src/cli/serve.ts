import { HttpLive } from "#http/Server.ts"
import { SqlLive } from "#sql/Client.ts"
import { Layer } from "effect"
import { SandboxLive } from "../machines/sandbox/Sandbox.ts"
import { ServicesLive } from "../Services.ts"

/** The whole platform in one process, from its settings: database, machines, services, doors. */
export const PlatformLive = HttpLive.pipe(
  Layer.provide(ServicesLive),
  Layer.provide([SqlLive, SandboxLive])
)
