import { SettingsLive } from "#src/config/Settings.ts"
import { ConfigProvider, Layer } from "effect"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A directory that nobody else uses. It goes at the end of the run: until then a test may have something mounted. */
export const temporaryDirectory = (name = "home") => mkdtempSync(join(tmpdir(), `berth-test-${name}-`))

/** The settings that these variables give, and nothing of the process's environment. Nothing asks OSV, or for another Node, unless told. */
export const settingsTest = (variables: Readonly<Record<string, string>> = {}) =>
  SettingsLive.pipe(
    Layer.provide(Layer.setConfigProvider(
      ConfigProvider.fromMap(
        new Map(
          Object.entries({ BERTH_HOME: temporaryDirectory(), SCANNER: "none", PACKAGE_NODE: "host", ...variables })
        )
      )
    ))
  )
