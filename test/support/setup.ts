import { it, makeMethods } from "@effect/vitest"

// `layer` binds the methods of the one `it` there is to that layer, for good. Files share a process, and each begins
// with the methods that it imports.
makeMethods(it)
