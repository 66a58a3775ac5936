-- Makes the table of what CUDA offers of each card again from capacities.tsv and compares it with the library's, by card and
-- by observation. Prints "ok" or "not ok" lines.
local MIB = 1048576
local PRECISE = 6   -- MiB: rows known less well (two digits of GiB and fewer) are evidence, not figures
local GAP = 45      -- MiB between the groups of old and of current drivers
local WINDOWS = 6   -- MiB that a printed CUDA total on Windows may be off nvidia-smi's: rounding, GiB with two digits
-- Two cards were seen 28 MiB below their total under WSL2: nothing says why.
local LOWER_ON_WINDOWS = {["RTX 5090"] = 32579}

local failed = false

local function check(good, what, got)
  print((good and "ok " or "not ok ") .. what .. (good and "" or ": " .. tostring(got)))
  failed = failed or not good
end

local function split(line)
  local cells = {}
  for cell in (line .. "\t"):gmatch("([^\t]*)\t") do cells[#cells + 1] = cell end
  return cells
end

-- Rows by the name of their column; those of cards that the library does not list have an empty `card`.
local function observations()
  local rows, names = {}, nil
  for line in io.lines("tests/calc/capacities.tsv") do
    local cells = split(line)
    if not names then
      names = cells
    else
      assert(#cells == #names, line)
      local row = {}
      for i, name in ipairs(names) do row[name] = cells[i] end
      rows[#rows + 1] = row
    end
  end
  return rows
end

local function median(list, count)
  local half = count // 2
  return count % 2 == 1 and list[half + 1] or (list[half] + list[half + 1]) / 2
end

-- How many of the ascending values belong to the lower group.
local function lower_group(list)
  local widest, at = 0, #list
  for i = 2, #list do
    if list[i] - list[i - 1] > widest then widest, at = list[i] - list[i - 1], i - 1 end
  end
  return widest >= GAP and at or #list
end

local rows = observations()
local seen, sources = {}, true
for _, row in ipairs(rows) do
  sources = sources and row.quote ~= "" and (row.source == "a public log" or row.source:find("^https://") ~= nil)
  if row.card ~= "" and tonumber(row.precision_mib) < PRECISE and row.system:find("^linux") then
    seen[row.card] = seen[row.card] or {}
    table.insert(seen[row.card], tonumber(row.mib))
  end
end
check(#rows > 600 and sources, "each observation has its quotation and its source", #rows)

-- The table: median, extremes and count of every card.
local cards, unseen = {}, 0
for _, card in ipairs(vram.gpus()) do
  local list = seen[card.name]
  cards[card.name] = card
  if list then
    table.sort(list)
    local count = lower_group(list)
    local good = card.cuda_basis == "observed" and card.cuda_seen == count
      and card.cuda_bytes == math.floor(median(list, count)) * MIB
      and card.cuda_low_bytes == math.floor(list[1]) * MIB and card.cuda_high_bytes == math.ceil(list[#list]) * MIB
    check(good, "the observations of " .. card.name .. " make its row", math.floor(median(list, count)) .. ", " .. count .. ", "
      .. math.floor(list[1]) .. ", " .. math.ceil(list[#list]))
  else
    unseen = unseen + 1
    local other_maker = card.compute_capability == 0
    check(card.cuda_seen == 0 and card.cuda_basis == (other_maker and "total" or "rule")
      and (card.cuda_bytes == card.memory_bytes) == other_maker, card.name .. " has none, and says so", card.cuda_basis)
  end
end
check(unseen > 10, "some cards are without an observation", unseen)

-- Every observation: of a known card, no more than the card's total; on Windows the total itself.
local windows, wrong = 0, {}
for _, row in ipairs(rows) do
  local card, mib = cards[row.card], tonumber(row.mib)
  if row.card ~= "" and not card then wrong[#wrong + 1] = row.card .. " is not a card" end
  if card and tonumber(row.precision_mib) < PRECISE then
    local total = card.memory_bytes // MIB
    if mib > total + 2 then wrong[#wrong + 1] = row.card .. ": " .. mib .. " is more than its total" end
    if row.smi_total_mib ~= "" and tonumber(row.smi_total_mib) ~= total then
      wrong[#wrong + 1] = row.card .. ": nvidia-smi showed " .. row.smi_total_mib
    end
    if (row.system:find("^windows") and row.system ~= "windows-tcc") or row.system:find("^wsl") then
      windows = windows + 1
      if math.abs(mib - total) > WINDOWS and LOWER_ON_WINDOWS[row.card] ~= mib then
        wrong[#wrong + 1] = row.card .. ": " .. mib .. " on Windows"
      end
    end
  end
end
check(#wrong == 0, #rows .. " observations against the cards' totals, " .. windows .. " of them on Windows", table.concat(wrong, "; "))
check(windows > 100, "Windows was seen", windows)

-- A card without an observation: the median of what its likes keep back.
local function kept_back(name) return (cards[name].memory_bytes - cards[name].cuda_bytes) // MIB end
check(kept_back("RTX 5060 Ti 8GB") == kept_back("RTX 5060"), "the rule: one card of the same size and generation",
  kept_back("RTX 5060 Ti 8GB"))
check(kept_back("L40") == kept_back("L40S"), "the rule: the nearest in size", kept_back("L40"))
check(kept_back("RTX 4500 Ada") == (kept_back("RTX 4090") + kept_back("RTX 4090 D") + 1) // 2,
  "the rule: the median of two", kept_back("RTX 4500 Ada"))
os.exit(not failed)
