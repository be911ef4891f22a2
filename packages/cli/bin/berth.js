#!/usr/bin/env node
import module from "node:module"

// From Node 22 on what V8 has compiled is kept from one start to the next.
module.enableCompileCache?.()
await import("../dist/client.js")
