import { answering } from "./answering.ts"
import { applyLayers, type Unpacking } from "./layers.ts"

await answering(({ layers, limits, most, root, spent }: Unpacking, signal) =>
  applyLayers(root, layers, limits, most, signal, spent)
)
