return {a = given(#contents("no.tsv"))}
