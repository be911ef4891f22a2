import type { ReadyConfig } from "#src/format/ReadyConfig.ts"
import { Struct } from "effect"

/** What the server works with: the credentials in a configuration are forgotten before the first request is taken. */
export type ServedConfig = Omit<ReadyConfig, "integrations">

export const served = (config: ReadyConfig): ServedConfig => Struct.omit(config, "integrations")
