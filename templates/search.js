// Search, loaded when its box is first used. The index is a folder of scripts, each of which calls vramdocSearch(name, data): the
// first says where dictionaries (d0, d1, ...) and texts (t0, t1, ...) begin. A page's sections are its units, long ones in parts.
(function () {
  "use strict";
  var form = document.querySelector("form.search"), files = {}, came = {}, first;

  // Words as gen/text/terms.c has them: the same letters folded, the same runs divided.
  var dense = "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua9e0-\ua9ff\uaa60-\uaa7f\uf900-\ufaff\u{20000}-\u{3ffff}]";
  var word = new RegExp("(?:(?=" + dense + ")[\\p{L}\\p{N}\\p{M}])+|(?:(?!" + dense + ")[\\p{L}\\p{N}\\p{M}])+", "gu");
  var isDense = new RegExp("^" + dense, "u");
  var other = {};
  "ßss æae ðd øo þth đd ıi łl œoe ςσ آا أا ؤو إا ئي ةه ىي ٱا کك یي ँं \u0929न \u0931र \u0934ळ".split(" ").forEach(function (pair) {
    other[pair[0]] = pair.slice(1);
  });
  function fold(text) {
    return text.normalize("NFC").toLowerCase()
      .replace(/[\u0300-\u036f\u0591-\u05c7\u0640\u064b-\u065f\u0670\u093c\u09bc\u0a3c\u00ad\u200b-\u200d\u2060\ufeff]/g, "")
      .replace(/[\u00c0-\u06ff\u0901-\u09ff\u1e00-\u1fff\ufb00-\ufb06\uff00-\uff5e]/g, function (c) {
        var code = c.charCodeAt(0);
        if (other[c] !== undefined) return other[c];
        if (/\p{Nd}/u.test(c) && code < 0xfb00) return String((code < 0x900 ? code : code - 6) & 15);
        return code > 0x52f && code < 0x1e00 ? c : c.normalize("NFKD").replace(/\p{Mn}/gu, "").toLowerCase();
      });
  }
  function terms(text) {
    var out = [];
    (fold(text.replace(/(\p{Nd})[.,'\u2019\u00a0\u202f](?=\p{Nd})/gu, "$1")).match(word) || []).forEach(function (run) {
      var letters = Array.from(run);
      if (!isDense.test(run)) { if (letters[1] || /\d/.test(run)) out.push(letters.slice(0, 30).join("")); }
      else if (!letters[1]) out.push(run);
      else for (var i = 1; i < letters.length; i++) out.push(letters[i - 1] + letters[i]);
    });
    return out;
  }

  // Numbers: signs from ']' on have digits to come, those from '#' on are the last.
  function numbers(code) {
    var out = [], sum = 0, unit = 1;
    for (var i = 0; i < code.length; i++) {
      var c = code.charCodeAt(i);
      if (c >= 93) { sum += unit * (c - 93 + 57); unit *= 34; }
      else { out.push(sum + unit * (c - 35)); sum = 0; unit = 1; }
    }
    return out;
  }
  function sums(code) { var sum = 0; return numbers(code).map(function (n) { return sum += n; }); }
  // The last of a sorted list that is not behind value.
  function place(list, value) {
    var low = 0, high = list.length;
    while (high - low > 1) { var middle = low + high >> 1; if (list[middle] <= value) low = middle; else high = middle; }
    return low;
  }
  function load(name) {
    if (!files[name]) files[name] = new Promise(function (done) {
      var script = document.createElement("script"), index = form.dataset.index;
      script.src = name ? index.replace(/\.js$/, "/" + name + ".js") : index;
      script.onload = script.onerror = function () { script.remove(); done(came[name]); };
      document.head.append(script);
    });
    return files[name];
  }
  window.vramdocSearch = function (name, data) { came[name] = data; };

  function begin() {
    if (!first) first = load("").then(function (data) {
      if (!data) return null;
      return { units: data[0], words: data[1].split(" "), texts: sums(data[2]), pages: sums(data[3]),
        synonyms: data[4].split("\n").map(function (line) { return line.split("=").map(terms); }) };
    });
    return first;
  }
  // A dictionary: a list of entries, forms of a stem with their units, and where each form is.
  function dictionary(number) {
    return load("d" + number).then(function (data) {
      if (!data || data.forms) return data;
      var out = came["d" + number] = { forms: new Map() };
      data.split("\t").forEach(function (line) {
        var forms = line.split(" "), entry = { code: forms.pop(), forms: forms };
        forms.forEach(function (form) { out.forms.set(form, entry); });
      });
      return out;
    });
  }
  // Levels of an entry's units.
  function levels(entry) {
    if (!entry.levels) {
      var list = numbers(entry.code), unit = 0;
      entry.count = list.shift();
      entry.levels = new Map(list.map(function (n) { return [unit += n >> 3, n & 7]; }));
    }
    return entry.levels;
  }

  function common(a, b) { var i = 0; while (i < a.length && a[i] === b[i]) i++; return i; }
  // Whether one letter too many, too few, another, or two in the other order make b of a.
  function alike(a, b) {
    if (a.length > b.length) return alike(b, a);
    if (b.length - a.length > 1) return false;
    var i = common(a, b);
    if (a.length < b.length) return a.slice(i) === b.slice(i + 1);
    return a.slice(i + 1) === b.slice(i + 1) || (a[i] === b[i + 1] && a[i + 1] === b[i] && a.slice(i + 2) === b.slice(i + 2));
  }

  // Entries for a word of the query, each with what it is worth: the word itself, words that it begins while it is typed; when it is
  // not there (and need not be, exact), words that differ by a letter, the longest common beginning, and what stands behind that in a compound.
  function lookUp(at, text, last, again, exact) {
    var number = place(at.words, text), numbers = [number];
    for (var i = number + 1; last && i < at.words.length && i < number + 3 && at.words[i].startsWith(text); i++) numbers.push(i);
    return Promise.all(numbers.map(dictionary)).then(function (all) {
      var found = new Map(), forms = [];
      function add(entry, worth) { if (!(found.get(entry) >= worth)) found.set(entry, worth); }
      all.forEach(function (d) {
        if (!d) return;
        d.forms.forEach(function (entry, form) { forms.push([form, entry]); });
        if (d.forms.has(text)) add(d.forms.get(text), 1);
      });
      if (last) forms.forEach(function (f) { if (f[0].startsWith(text)) add(f[1], 0.6); });
      if (exact || isDense.test(text)) return found;
      if (text.length > 4) forms.forEach(function (f) {
        if (Math.abs(f[0].length - text.length) < 3 && common(text, f[0]) > Math.max(3, text.length - 3)) add(f[1], 0.5);
      });
      if (found.size) return found;
      // A wrong letter may put a word into the dictionary beside: those that have words of the same first letter.
      var beside = [number - 1, number + 1].filter(function (n) { return text.length > 4 && n >= 0 && n < at.words.length && at.words[Math.max(n, number)][0] === text[0]; });
      return Promise.all(beside.map(dictionary)).then(function (more) {
      more.forEach(function (d) { if (d) d.forms.forEach(function (entry, form) { forms.push([form, entry]); }); });
      var plain = text.replace(/([aou])e/g, "$1");
      forms.forEach(function (f) { if (f[0] === plain) add(f[1], 0.9); });
      if (text.length > 3 && !found.size) forms.forEach(function (f) { if (alike(text, f[0])) add(f[1], 0.7); });
      if (found.size) return found;
      var most = 0;
      forms.forEach(function (f) { most = Math.max(most, common(text, f[0])); });
      if (most > 3) forms.forEach(function (f) { if (common(text, f[0]) === most) add(f[1], 0.6 * most / text.length); });
      var rest = text.slice(Math.max(most, 4));
      if (again || most < 4 || rest.length < 4) return found;
      return lookUp(at, rest, false, true).then(function (more) {
        more.forEach(function (worth, entry) { add(entry, worth * 0.5); });
        return found;
      });
      });
    });
  }
  // Units for a word: what each is worth, and how rare the word is.
  function weigh(at, text, last, exact) {
    return lookUp(at, text, last, false, exact).then(function (found) {
      var units = new Map(), count = 0, forms = new Set();
      found.forEach(function (worth, entry) {
        levels(entry).forEach(function (level, unit) { units.set(unit, Math.max(units.get(unit) || 0, worth * level)); });
        count += entry.count;
        entry.forms.forEach(function (f) { forms.add(f); });
      });
      return { units: units, forms: forms, rare: Math.log(1 + at.units / (Math.min(count, at.units) + 0.5)) };
    });
  }
  // Where a list of words stands in another.
  function spot(list, part) {
    for (var i = 0; i + part.length <= list.length; i++)
      if (part.every(function (w, k) { return list[i + k] === w; })) return i;
    return -1;
  }
  // Two words that are one on the page.
  function addJoined(at, list, words) {
    return Promise.all(list.slice(1).map(function (w, i) {
      var both = list[i] + w;
      return isDense.test(both) ? null : dictionary(place(at.words, both)).then(function (d) {
        var entry = d && d.forms.get(both);
        if (entry) levels(entry).forEach(function (level, unit) {
          for (var k = i; k < i + 2; k++) words[k].units.set(unit, Math.max(words[k].units.get(unit) || 0, level)), words[k].forms.add(both);
        });
      });
    }));
  }
  // What else the query may mean: a unit that has all words of a synonym has those of the query that it stands for.
  function addSynonyms(at, list, words) {
    var jobs = [];
    at.synonyms.forEach(function (group) {
      group.forEach(function (own) {
        var from = own.length ? spot(list, own) : -1;
        if (from < 0) return;
        group.forEach(function (synonym) {
          if (synonym === own || !synonym.length) return;
          jobs.push(Promise.all(synonym.map(function (w) { return weigh(at, w, false, true); })).then(function (others) {
            var worth = new Map();
            others[0].units.forEach(function (level, unit) {
              var all = others.map(function (o) { return o.units.get(unit) || 0; });
              if (all.every(Boolean)) worth.set(unit, all.reduce(function (a, b) { return a + b; }) / all.length);
            });
            for (var i = from; i < from + own.length; i++) {
              worth.forEach(function (level, unit) { words[i].units.set(unit, Math.max(words[i].units.get(unit) || 0, level)); });
              others.forEach(function (o) { o.forms.forEach(function (f) { if (f.length > 3) words[i].forms.add(f); }); });
            }
          }));
        });
      });
    });
    return Promise.all(jobs);
  }
  // Units by what they are worth, and the number of pages that have every word: of rare words more, the more of the query the better; a page's title counts a little for all of it.
  function rank(at, words) {
    var all = 0, totals = new Map(), whole = new Map();
    words.forEach(function (w, i) {
      all += w.rare;
      w.pages = new Map();
      w.units.forEach(function (level, unit) {
        totals.set(unit, 0);
        var page = place(at.pages, unit);
        if (at.pages[page] === unit) w.pages.set(page, level);
        if ((whole.get(page) || 0) === i) whole.set(page, i + 1);
      });
    });
    totals.forEach(function (none, unit) {
      var page = place(at.pages, unit), sum = 0, part = 0;
      words.forEach(function (w) {
        var own = w.units.get(unit) || 0, level = Math.max(own, 0.3 * (w.pages.get(page) || 0));
        sum += w.rare * level;
        if (level) part += w.rare * (own ? 1 : 0.5);
      });
      totals.set(unit, sum * part / all);
    });
    var pages = 0;
    whole.forEach(function (n) { pages += n === words.length; });
    return { pages: pages, units: Array.from(totals).sort(function (a, b) { return b[1] - a[1] || a[0] - b[0]; }).map(function (hit) { return hit[0]; }) };
  }
  function unitText(at, unit) {
    var number = place(at.texts, unit);
    return load("t" + number).then(function (pages) {
      var left = unit - at.texts[number], out = null;
      (pages || []).forEach(function (p) {
        var count = (p.length - 2) / 3;
        if (!out && left >= 0 && left < count) out = { url: p[0], title: p[1], anchor: p[2 + 3 * left], heading: p[3 + 3 * left], text: p[4 + 3 * left] };
        left -= count;
      });
      return out;
    });
  }
  // The first so many sections, in order; parts of one section are one hit.
  function gather(at, units, most) {
    var seen = new Map();
    function more(from) {
      var to = Math.min(units.length, from + most - seen.size);
      return Promise.all(units.slice(from, to).map(function (unit) { return unitText(at, unit); })).then(function (texts) {
        texts.forEach(function (t) {
          var key = t && t.url + "#" + t.anchor;
          if (t && !seen.has(key)) seen.set(key, t);
        });
        return seen.size < most && to < units.length ? more(to) : Array.from(seen.values());
      });
    }
    return more(0);
  }
  // Whether a hit's heading is the query and nothing else, each word in any of its forms.
  function isNamed(hit, words) {
    var own = terms(hit.heading || hit.title), of = function (w) { return own.some(function (t) { return w.forms.has(t); }); };
    return words.every(of) && own.every(function (t) { return words.some(function (w) { return w.forms.has(t); }); });
  }
  // Answers the hits, those that are named like the query first, and the words to mark in them.
  function find(query, most) {
    return begin().then(function (at) {
      var list = terms(query);
      // Of a whole sentence, its shortest words say nothing.
      if (list.length > 4) list = list.filter(function (w) { return w.length > 2 || /\d/.test(w) || isDense.test(w); });
      if (!at || !list.length) return { hits: [], words: [] };
      return Promise.all(list.map(function (w, i) { return weigh(at, w, i === list.length - 1 && /[\p{L}\p{N}\p{M}]$/u.test(query)); })).then(function (words) {
        return Promise.all([addSynonyms(at, list, words), addJoined(at, list, words)]).then(function () {
          var ranked = rank(at, words);
          return gather(at, ranked.units, most).then(function (hits) {
            var named = hits.filter(function (hit) { return isNamed(hit, words); });
            return { hits: named.concat(hits.filter(function (hit) { return named.indexOf(hit) < 0; })), words: words, pages: ranked.pages };
          });
        });
      });
    });
  }

  // --- What is shown.
  // Pieces of text, those that are words of the query marked: [text, is marked, ...]; value: of which words, rare ones the more.
  function pieces(text, words) {
    var list = [], met = new Set(), at = 0;
    function has(term) {
      var hit = false;
      words.forEach(function (w) { if (w.forms.has(term)) { hit = true; met.add(w); } });
      return hit;
    }
    function put(to, marked) {
      if (to <= at) return;
      if (list.length && list[list.length - 1][1] === marked) list[list.length - 1][0] += text.slice(at, to);
      else list.push([text.slice(at, to), marked]);
      at = to;
    }
    text.replace(word, function (run, from) {
      if (!isDense.test(run)) { if (has(fold(run).slice(0, 30))) { put(from, false); put(from + run.length, true); } return; }
      Array.from(run).reduce(function (before, letter) {
        if (before && has(fold(before + letter))) { put(from - before.length, false); put(from + letter.length, true); }
        from += letter.length;
        return letter;
      }, "");
    });
    put(text.length, false);
    var value = 0;
    met.forEach(function (w) { value += w.rare; });
    return { list: list, value: value };
  }
  // The sentence that has most of the query, shortened before and behind its first word.
  function sentence(text, words) {
    var best = null;
    text.replace(/([.!?\u061f\u0964]["\u201d\u00bb)]*)\s+/g, "$1\n").replace(/([\u3002\uff01\uff1f]+)/g, "$1\n").split("\n").forEach(function (line) {
      var p = pieces(line, words);
      if (line && (!best || p.value > best.value)) best = p;
    });
    if (!best) return [];
    var list = best.list, i = list.findIndex(function (p) { return p[1]; }), head = list[0];
    if (i > 0 && head[0].length > 80) head[0] = "\u2026 " + head[0].slice(-60).replace(/^\S{0,20}\s/, "");
    for (var left = 200, k = 0; k < list.length; left -= list[k++][0].length)
      if (list[k][0].length > left) { list[k][0] = list[k][0].slice(0, left).replace(/\s\S{0,20}$/, "") + " \u2026"; list.length = k + 1; }
    return list;
  }
  function element(name, children) {
    var e = document.createElement(name);
    e.append.apply(e, children);
    return e;
  }
  function marked(list) { return list.map(function (p) { return p[1] ? element("mark", [p[0]]) : p[0]; }); }
  function item(hit, words) {
    var link = element("a", marked(pieces(hit.heading || hit.title, words).list));
    link.href = form.dataset.root + hit.url + (hit.anchor ? "#" + encodeURIComponent(hit.anchor) : "");
    if (hit.heading) link.append(" ", element("small", [hit.title]));
    return element("li", [link, element("p", marked(sentence(hit.text, words)))]);
  }

  var box = form.querySelector("input"), panel = form.querySelector(".results"), asked = 0;
  function show() {
    var own = ++asked, query = box.value;
    find(query, 8).then(function (found) {
      if (own !== asked) return;
      panel.hidden = !query.trim() || !form.contains(document.activeElement);
      panel.querySelector("[role=status]").textContent = found.pages ? form.dataset.found + " " + found.pages : form.dataset.none;
      panel.querySelector("ol").replaceChildren.apply(panel.querySelector("ol"), found.hits.map(function (hit) { return item(hit, found.words); }));
      panel.dataset.query = query;
    });
  }
  if (box) {
    box.addEventListener("input", show);
    form.addEventListener("focusin", function (e) { if (!form.contains(e.relatedTarget) && box.value) show(); });
    form.addEventListener("focusout", function (e) { if (!form.contains(e.relatedTarget)) panel.hidden = true; });
    panel.addEventListener("mousedown", function (e) { e.preventDefault(); });   // the focus stays, so that a click is not lost
    form.addEventListener("submit", function (e) {
      e.preventDefault();
      show();
      find(box.value, 1).then(function () { var link = panel.querySelector("a"); if (link && !panel.hidden) link.click(); });
    });
    form.addEventListener("keydown", function (e) {
      if (e.key === "Escape") { e.preventDefault(); asked++; panel.hidden = true; box.focus(); return; }
      if (e.key !== "ArrowDown" && e.key !== "ArrowUp") return;
      var stops = [box].concat(Array.from(panel.querySelectorAll("a")));
      var to = stops[stops.indexOf(document.activeElement) + (e.key === "ArrowDown" ? 1 : -1)];
      if (to) { e.preventDefault(); to.focus(); }
    });
    begin();
    if (box.value) show();
  }
  window.vramdocSearch.terms = terms;
  window.vramdocSearch.find = find;
})();
