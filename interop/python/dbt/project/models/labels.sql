{{ config(materialized='view') }}
select i.id, i.name, s.label
from {{ source('lake', 'item') }} i
join {{ source('lake', 'series') }} s on s.n = i.id
