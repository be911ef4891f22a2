import { SettingError } from "#src/config/Settings.ts"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { isId, newId } from "./ids.ts"
import { messageOf } from "./message-of.ts"
import { writeOnce } from "./write-once.ts"

/** Identifies a host. Made with the home and stored in it: the machines there belong to the host with this id. */
export const hostId = (home: string) =>
  Effect.try({
    try: () => {
      const path = join(home, "host-id")
      writeOnce(path, () => newId("host"))
      const id = readFileSync(path, "utf8").trim()
      if (!isId("host", id)) throw new Error(`${path} holds something else; remove it`)
      return id
    },
    catch: (error) => new SettingError({ message: `The id of this host can't be kept: ${messageOf(error)}` })
  })
