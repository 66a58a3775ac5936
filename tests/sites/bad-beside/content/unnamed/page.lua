return {a = given(#contents("wrong" .. "/" .. "part.lua"))}
