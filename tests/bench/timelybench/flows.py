"""The flows that are measured, in text form."""

MOST_CHILDREN = 50_000  # of one record in a flat_map

BARRIER = """
flow @barrier {{
  loop @rounds
  %in = input() {{types = ["i64[]"]}}
  %first = enter(%in) {{loop = "rounds"}}
  %all = concat(%first, %again)
  %round = distinct(%all)
  %again = feedback(%round) {{bound = {rounds}}}
  %last = leave(%round)
  %once = distinct(%last)
  %out = output(%once)
}}
"""

EXCHANGE = """
func @make(%seed: i64[]) -> (i64[], i64[{children}]) {{
  %numbers = iota {{axis = 0, dtype = i64, shape = ({children})}}
  %factor = constant {{value = i64[] {{7919}}}}
  %factors = broadcast_in_dim(%factor) {{axes = [], shape = ({children})}}
  %spread = multiply(%numbers, %factors)
  %seeds = broadcast_in_dim(%seed) {{axes = [], shape = ({children})}}
  %keys = add(%spread, %seeds)
  %count = constant {{value = i64[] {{{children}}}}}
  return %count, %keys
}}
func @never(%key: i64[]) -> (bool[]) {{
  %no = not_equal(%key, %key)
  return %no
}}
flow @exchange {{
  loop @rounds
  %in = input() {{types = ["i64[]"]}}
  %first = enter(%in) {{loop = "rounds"}}
  %all = concat(%first, %again)
  %round = distinct(%all)
  %made = flat_map(%round) {{function = "make"}}
  %moved = exchange(%made) {{keys = 1}}
  %none = filter(%moved) {{function = "never"}}
  %onward = concat(%round, %none)
  %again = feedback(%onward) {{bound = {rounds}}}
  %last = leave(%round)
  %once = distinct(%last)
  %out = output(%once)
}}
"""

BFS = """
func @start(%node: i64[]) -> (i64[], i64[]) {
  %zero = constant {value = i64[] {0}}
  return %node, %zero
}
func @step(%node: i64[], %distance: i64[], %to: i64[]) -> (i64[], i64[]) {
  %one = constant {value = i64[] {1}}
  %next = add(%distance, %one)
  return %to, %next
}
func @value(%node: i64[], %distance: i64[]) -> (i64[]) {
  return %distance
}
flow @bfs {
  loop @search
  %nodes = input() {types = ["i64[]"]}
  %edges = input() {types = ["i64[]", "i64[]"]}
  %roots = map(%nodes) {function = "start"}
  %first = enter(%roots) {loop = "search"}
  %ways = enter(%edges) {loop = "search"}
  %offers = concat(%first, %again)
  %reached = reduce_by_key(%offers) {keys = 1, combine = "min", state = "loop"}
  %met = join(%reached, %ways) {keys = 1, state = "loop"}
  %next = map(%met) {function = "step"}
  %again = feedback(%next)
  %found = leave(%reached)
  %distances = map(%found) {function = "value"}
  %sum = reduce_by_key(%distances) {keys = 0, combine = "sum"}
  %out = output(%sum)
}
"""

COMPONENTS = """
func @both(%a: i64[], %b: i64[]) -> (i64[], i64[2], i64[2]) {
  %a1 = reshape(%a) {shape = (1)}
  %b1 = reshape(%b) {shape = (1)}
  %froms = concatenate(%a1, %b1) {axis = 0}
  %tos = concatenate(%b1, %a1) {axis = 0}
  %count = constant {value = i64[] {2}}
  return %count, %froms, %tos
}
func @start(%node: i64[]) -> (i64[], i64[]) {
  return %node, %node
}
func @offer(%node: i64[], %label: i64[], %to: i64[]) -> (i64[], i64[]) {
  return %to, %label
}
func @value(%node: i64[], %label: i64[]) -> (i64[]) {
  return %label
}
flow @components {
  loop @spread
  %nodes = input() {types = ["i64[]"]}
  %edges = input() {types = ["i64[]", "i64[]"]}
  %own = map(%nodes) {function = "start"}
  %ways = flat_map(%edges) {function = "both"}
  %first = enter(%own) {loop = "spread"}
  %inside = enter(%ways) {loop = "spread"}
  %offers = concat(%first, %again)
  %labels = reduce_by_key(%offers) {keys = 1, combine = "min", state = "loop"}
  %met = join(%labels, %inside) {keys = 1, state = "loop"}
  %next = map(%met) {function = "offer"}
  %again = feedback(%next)
  %became = leave(%labels)
  %last = reduce_by_key(%became) {keys = 1, combine = "min"}
  %values = map(%last) {function = "value"}
  %sum = reduce_by_key(%values) {keys = 0, combine = "sum"}
  %out = output(%sum)
}
"""

# Ranks are whole numbers of 10**-9, so that sums have one result.
PAGERANK = """
func @from(%a: i64[], %b: i64[]) -> (i64[]) {{
  return %a
}}
func @start(%node: i64[]) -> (i64[], i64[]) {{
  %one = constant {{value = i64[] {{1000000000}}}}
  return %node, %one
}}
func @base(%node: i64[], %rank: i64[]) -> (i64[], i64[]) {{
  %least = constant {{value = i64[] {{150000000}}}}
  return %node, %least
}}
func @share(%node: i64[], %rank: i64[], %degree: i64[]) -> (i64[], i64[]) {{
  %seventeen = constant {{value = i64[] {{17}}}}
  %twenty = constant {{value = i64[] {{20}}}}
  %most = multiply(%rank, %seventeen)
  %parts = multiply(%degree, %twenty)
  %share = floor_divide(%most, %parts)
  return %node, %share
}}
func @give(%node: i64[], %share: i64[], %to: i64[]) -> (i64[], i64[]) {{
  return %to, %share
}}
func @value(%node: i64[], %rank: i64[]) -> (i64[]) {{
  return %rank
}}
flow @pagerank {{
  loop @power
  %nodes = input() {{types = ["i64[]"]}}
  %edges = input() {{types = ["i64[]", "i64[]"]}}
  %starts = map(%nodes) {{function = "start"}}
  %froms = map(%edges) {{function = "from"}}
  %counts = count(%froms) {{keys = 1}}
  %first = enter(%starts) {{loop = "power"}}
  %degrees = enter(%counts) {{loop = "power"}}
  %ways = enter(%edges) {{loop = "power"}}
  %given = concat(%first, %again)
  %ranks = reduce_by_key(%given) {{keys = 1, combine = "sum"}}
  %bases = map(%ranks) {{function = "base"}}
  %divided = join(%ranks, %degrees) {{keys = 1, state = "loop"}}
  %shares = map(%divided) {{function = "share"}}
  %met = join(%shares, %ways) {{keys = 1, state = "loop"}}
  %gifts = map(%met) {{function = "give"}}
  %next = concat(%bases, %gifts)
  %again = feedback(%next) {{bound = {trips}}}
  %became = leave(%ranks)
  %values = map(%became) {{function = "value"}}
  %sum = reduce_by_key(%values) {{keys = 0, combine = "sum"}}
  %out = output(%sum)
}}
"""


def barrier(rounds):
    """Each record waits in each round until all workers are through with the one before."""
    return BARRIER.format(rounds=rounds)


def exchange(rounds, records):
    """Returns: the flow, and its seeds for each worker: a round makes `records` on each worker,
    each goes to the worker of its key, and the next one begins when all have arrived."""
    seeds = -(-records // MOST_CHILDREN)
    return EXCHANGE.format(rounds=rounds, children=records // seeds), seeds


def chain(vertices):
    """Vertices behind each other that do nothing with a record."""
    lines = ["flow @chain {", '  %in = input() {types = ["i64[]"]}', "  %v0 = concat(%in)"]
    lines += [f"  %v{i} = concat(%v{i - 1})" for i in range(1, vertices)]
    lines += [f"  %out = output(%v{vertices - 1})", "}"]
    return "\n".join(lines) + "\n"


def graph(kind, trips):
    return {"bfs": BFS, "components": COMPONENTS, "pagerank": PAGERANK.format(trips=trips)}[kind]
